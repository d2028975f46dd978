"""Who may do what: every screen, whoever wrote it, refuses strangers, wrong roles and forged forms."""

from __future__ import annotations

import re
from uuid import UUID

import pytest

from messor.access.roles import PERMISSIONS, Act, Role
from messor.console.app import SCREENS
from messor.console.screens import Screen
from messor.console.views import identity, owners, public_request
from messor.store.database import Database
from tests.console import seeding
from tests.console.conftest import Enter, Serve, Visitor
from tests.crawling import admit

PUBLIC = {
    ("GET", "/login"),
    ("POST", "/login"),
    ("POST", "/login/code"),
    ("GET", "/login/oidc"),
    ("GET", "/login/oidc/callback"),
    ("GET", "/link/{token}"),
    ("POST", "/link/{token}"),
    ("GET", "/ask"),
    ("GET", "/ask/status/{token}"),
    ("POST", "/ask"),
    ("GET", "/bot"),
    ("GET", "/bot/ranges.json"),
    ("GET", "/bot/opt-out"),
    ("POST", "/bot/opt-out"),
    ("GET", "/bot/requests/{token}"),
    ("POST", "/bot/requests/{token}/check"),
    ("GET", "/bot/requests/{token}/report"),
    ("GET", "/.well-known/http-message-signatures-directory"),
    ("GET", "/.well-known/signature-agent-card"),
    ("POST", "/indexnow"),
}
NAMED = {"name": "example.org", "token": "x" * 43}
ALL = SCREENS + public_request.SCREENS + identity.SCREENS + owners.SCREENS
GUARDED = [screen for screen in ALL if screen.act is not None]
MUTATIONS = [screen for screen in SCREENS + public_request.SCREENS if screen.method == "POST"]


def name_of(screen: Screen) -> str:
    return f"{screen.method} {screen.path}"


def filled(screen: Screen) -> str:
    """An address of the screen, whatever its parts are called."""

    def fill(part: re.Match[str]) -> str:
        by_kind = {"int": "1", "uuid": str(UUID(int=1))}
        return by_kind.get(part[2] or "", NAMED.get(part[1], "x"))

    return re.sub(r"\{(\w+)(?::(\w+))?\}", fill, screen.path)


async def ask(visitor: Visitor, screen: Screen, csrf: str | None = None) -> int:
    if screen.method == "POST":
        return (await visitor.post(filled(screen), csrf=csrf)).status
    return (await visitor.get(filled(screen))).status


def test_the_public_screens_are_the_declared_ones() -> None:
    assert {(screen.method, screen.path) for screen in ALL if screen.act is None} == PUBLIC


def test_only_get_and_post_are_served() -> None:
    assert {screen.method for screen in ALL} == {"GET", "POST"}
    assert len({(screen.method, screen.path) for screen in ALL}) == len(ALL)


async def test_nobody_gets_in_without_a_login(serve: Serve, enter: Enter) -> None:
    stranger = await enter(await serve(public_submission=True))
    for screen in GUARDED:
        if screen.method == "GET":
            answer = await stranger.get(filled(screen))
            assert answer.status == 303, name_of(screen)
            assert answer.place.startswith("/login"), name_of(screen)
        else:
            assert await ask(stranger, screen) == 401, name_of(screen)


async def test_a_stale_session_is_nobody(console: str, enter: Enter) -> None:
    stranger = await enter(console)
    stranger.session.cookie_jar.update_cookies({"messor_session": "y" * 43})
    for screen in GUARDED:
        assert await ask(stranger, screen) in (303, 401), name_of(screen)


@pytest.mark.parametrize("role", list(Role))
async def test_a_role_does_only_what_it_may(
    role: Role, console: str, enter: Enter, database: Database
) -> None:
    await admit(database, "example.org")
    member = await enter(console, role)
    csrf = await member.token("/domains")
    for screen in SCREENS:
        if screen.act is None or screen.path in ("/logout", "/live"):
            continue
        status = await ask(member, screen, csrf)
        refused = role not in PERMISSIONS[screen.act]
        assert (status == 403) == refused, f"{name_of(screen)}: {status}"
        assert status < 500, name_of(screen)


async def test_roles_differ(console: str, enter: Enter) -> None:
    """The test above compares with the table; this one says what a person expects."""
    viewer = await enter(console, Role.VIEWER)
    assert (await viewer.get("/domains")).status == 200
    assert (await viewer.get("/review")).status == 403
    assert (await viewer.get("/submit")).status == 403
    submitter = await enter(console, Role.SUBMITTER)
    assert (await submitter.get("/submit")).status == 200
    assert (await submitter.get("/review")).status == 403


async def test_every_mutation_demands_its_token(
    serve: Serve, enter: Enter, database: Database
) -> None:
    base = await serve(public_submission=True)
    await seeding.ask_for(database, "example.org")
    admin, other = await enter(base, Role.ADMIN), await enter(base, Role.REVIEWER)
    foreign = await other.token("/domains")
    before = await database.fetchval("SELECT count(*) FROM messor.events")
    for screen in MUTATIONS:
        for csrf in (None, "", "x" * 64, foreign):
            assert await ask(admin, screen, csrf) == 403, f"{name_of(screen)} {csrf}"
    assert await database.fetchval("SELECT count(*) FROM messor.events") == before


async def test_a_form_from_elsewhere_does_nothing(admin: Visitor, database: Database) -> None:
    """The browser sends the cookie along; the token it cannot know."""
    await seeding.ask_for(database, "example.org")
    async with admin.session.post(
        f"{admin.base}/domains/example.org/decide",
        data={"act": "approve"},
        headers={"Origin": "https://evil.example", "Referer": "https://evil.example/"},
        allow_redirects=False,
    ) as answer:
        assert answer.status == 403
    assert await database.fetchval("SELECT status FROM messor.domains") == "pending_review"


@pytest.mark.parametrize(
    "kind", ["application/json", "multipart/form-data; boundary=x", "text/plain", ""]
)
async def test_other_kinds_of_bodies_are_refused(admin: Visitor, kind: str) -> None:
    async with admin.session.post(
        f"{admin.base}/submit", data=b"csrf=x&address=example.org", headers={"Content-Type": kind}
    ) as answer:
        assert answer.status == 415


async def test_a_large_form_is_refused(admin: Visitor) -> None:
    async with admin.session.post(
        f"{admin.base}/submit",
        data=b"address=" + b"a" * 600_000,
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    ) as answer:
        assert answer.status == 413
    fields = [("domain", "a.org")] * 3_000
    assert (await admin.post("/review", fields)).status == 413


async def test_every_act_is_used_or_left_to_others() -> None:
    """Screens name acts of the one table."""
    assert {screen.act for screen in GUARDED} <= set(Act)


async def test_unknown_addresses_and_methods(admin: Visitor, console: str, enter: Enter) -> None:
    assert (await admin.get("/nothing/here")).status == 404
    assert (await (await enter(console)).get("/nothing")).status == 404
    for method in ("PUT", "DELETE", "PATCH"):
        async with admin.session.request(method, f"{admin.base}/domains") as answer:
            assert answer.status == 405
