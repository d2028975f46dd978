"""Login, links, the first admin, logout: what a browser sends and gets."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from messor.access import links, members
from messor.access.members import Member
from messor.access.principal import LOCAL_ADMIN
from messor.access.roles import Role
from messor.console.addresses import within
from messor.store.database import Database
from tests.console.conftest import PASSWORD, Enter, Visitor

Joined = Callable[..., Awaitable[Member]]
ELSEWHERE = [
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "https://evil.example/",
    "javascript:alert(1)",
    "/\t/evil.example",
    "/\n/evil.example",
    " //evil.example",
    "evil.example",
    "data:text/html,x",
    "/" + "a" * 3000,
]


async def test_login_leads_where_one_wanted_to_go(
    console: str, enter: Enter, joined: Joined
) -> None:
    await joined(Role.VIEWER)
    visitor = await enter(console)
    asked = await visitor.get("/domains?view=approved")
    assert asked.place == "/login?next=/domains%3Fview%3Dapproved"
    form = {"email": "viewer@example.org", "password": PASSWORD, "next": "/domains?view=approved"}
    answer = await visitor.send(asked.place, "/login", form)
    assert (answer.status, answer.place) == (303, "/domains?view=approved")
    page = await visitor.get("/domains?view=approved")
    assert page.status == 200
    assert "The viewer" in page.text


@pytest.mark.parametrize("target", ELSEWHERE)
async def test_nobody_is_sent_elsewhere(
    target: str, console: str, enter: Enter, joined: Joined
) -> None:
    assert within(target) == "/"
    await joined(Role.VIEWER)
    visitor = await enter(console)
    form = {"email": "viewer@example.org", "password": PASSWORD, "next": target}
    assert (await visitor.send("/login", "/login", form)).place == "/"


async def test_wrong_passwords_and_strangers_look_the_same(
    console: str, enter: Enter, joined: Joined
) -> None:
    await joined(Role.VIEWER)
    visitor = await enter(console)
    wrong = await visitor.send(
        "/login", "/login", {"email": "viewer@example.org", "password": "no"}
    )
    nobody = await visitor.send("/login", "/login", {"email": "who@example.org", "password": "no"})
    assert wrong.status == nobody.status == 401
    assert "The e-mail address or the password is wrong." in wrong.said
    assert "The e-mail address or the password is wrong." in nobody.said


async def test_guessing_is_slowed_down(console: str, enter: Enter, joined: Joined) -> None:
    await joined(Role.VIEWER)
    visitor = await enter(console)
    token = await visitor.token("/login")
    form = {"email": "viewer@example.org", "password": "guess"}
    answers = [await visitor.post("/login", form, csrf=token) for _ in range(15)]
    throttled = [answer for answer in answers if answer.status == 429]
    assert throttled
    assert int(throttled[0].headers["Retry-After"]) >= 1


async def test_logout_ends_the_session_on_the_server(admin: Visitor) -> None:
    cookie = {one.key: one.value for one in admin.session.cookie_jar}["messor_session"]
    answer = await admin.send("/", "/logout")
    assert (answer.status, answer.place) == (303, "/login")
    admin.session.cookie_jar.update_cookies({"messor_session": cookie})
    assert (await admin.get("/")).place == "/login"


async def test_who_is_logged_in_needs_no_login(admin: Visitor) -> None:
    assert (await admin.get("/login?next=/domains")).place == "/domains"


async def test_the_first_admin(console: str, enter: Enter, database: Database) -> None:
    made = await links.offer_first_admin(database)
    assert made is not None
    path = made.url("")
    visitor = await enter(console)
    for _ in range(2):  # looking at it does not use it up
        assert "Create the admin account" in (await visitor.get(path)).text
    form = {"name": "Ada", "email": "ada@example.org", "password": PASSWORD, "again": "other"}
    refused = await visitor.send(path, path, form)
    assert refused.status == 422
    assert "The passwords do not match." in refused.said
    assert 'value="Ada"' in refused.text
    weak = await visitor.send(path, path, {**form, "password": "short", "again": "short"})
    assert weak.status == 422
    common = await visitor.send(
        path, path, {**form, "password": "changeme1234", "again": "changeme1234"}
    )
    assert (common.status, "too common" in common.said) == (422, True)
    answer = await visitor.send(path, path, {**form, "again": PASSWORD})
    assert (answer.status, answer.place) == (303, "/")
    assert "Ada" in (await visitor.get("/")).text
    other = await enter(console)
    late = await other.get(path)
    assert late.status == 401
    assert "This link was already used, has expired, or is incomplete." in late.said
    assert await members.has_admin(database)


async def test_a_login_link_works_once(
    console: str, enter: Enter, database: Database, joined: Joined
) -> None:
    member = await joined(Role.REVIEWER)
    async with database.transaction() as connection:
        made = await links.make_login(connection, member, by=LOCAL_ADMIN)
    path = made.url("")
    first, second = await enter(console), await enter(console)
    token = await second.token(path)
    assert (await first.send(path, path)).place == "/"
    assert (await first.get("/review")).status == 200
    again = await second.post(path, csrf=token)
    assert again.status == 401


async def test_the_theme_is_kept(admin: Visitor) -> None:
    assert 'data-bs-theme="auto"' in (await admin.get("/")).text
    answer = await admin.send("/", "/theme", {"theme": "dark", "back": "/domains"})
    assert answer.place == "/domains"
    assert 'data-bs-theme="dark"' in (await admin.get("/domains")).text
    assert (await admin.send("/", "/theme", {"theme": '"><script>'})).status == 422


async def test_a_message_cannot_be_planted(admin: Visitor) -> None:
    """Only what the server sealed for this session is shown."""
    admin.session.cookie_jar.update_cookies({"messor_said": "WyJkYW5nZXIiLCJldmlsIl0="})
    page = await admin.get("/domains")
    assert page.status == 200
    assert "evil" not in page.text
