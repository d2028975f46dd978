"""Members, accounts, keys, the audit log, the schedule and proxies in the console."""

from __future__ import annotations

import re
from decimal import Decimal
from html import unescape
from pathlib import Path

from messor.access import keys
from messor.access.origin import Origin
from messor.access.roles import Role
from messor.settings import Settings
from messor.store.database import Database
from tests.console.conftest import PASSWORD, Enter, Serve, Visitor
from tests.held_lanes import BILL, make_domain

ONCE = re.compile(r'<div class="once">([^<]+)</div>')


async def test_a_new_member_comes_in_by_the_link_that_is_shown_once(
    console: str, admin: Visitor, enter: Enter
) -> None:
    form = {"name": "Ada <b>", "email": "ada@example.org", "role": "reviewer"}
    page = await admin.send("/members", "/members", form)
    assert page.status == 200
    link = unescape(ONCE.search(page.text)[1])  # type: ignore[index]
    assert link.startswith(f"{console}/link/")
    listed = await admin.get("/members")
    assert link not in listed.text
    assert "Ada <b>" not in listed.text
    ada = await enter(console)
    path = link.removeprefix(console)
    assert (await ada.send(path, path)).status == 303
    account = await ada.get("/account")
    assert "You logged in with a one-time link" in account.said
    assert (await ada.get("/members")).status == 403


async def test_roles_change_and_members_are_shut_out_at_once(
    console: str, admin: Visitor, enter: Enter
) -> None:
    viewer = await enter(console, Role.VIEWER)
    assert viewer.member is not None
    path = f"/members/{viewer.member.id}"
    assert (await admin.send("/members", path, {"act": "role", "role": "submitter"})).status == 303
    assert (await viewer.get("/tasks")).status == 303  # to the login: its session has ended
    assert (await admin.send("/members", path, {"act": "disable"})).status == 303
    assert "deactivated" in (await admin.get("/members")).said
    assert (await admin.send("/members", f"{path}/link")).status == 409
    assert (await admin.send("/members", path, {"act": "enable"})).status == 303
    assert (await admin.send("/members", path, {"act": "role", "role": "god"})).status == 422


async def test_the_last_admin_stays(admin: Visitor) -> None:
    assert admin.member is not None
    for form in ({"act": "disable"}, {"act": "role", "role": "viewer"}):
        page = await admin.send("/members", f"/members/{admin.member.id}", form)
        assert page.status == 409
        assert "only admin" in page.said


async def test_an_address_that_is_taken_or_none_is_told_in_the_form(admin: Visitor) -> None:
    for email in ("admin@example.org", "nobody"):
        page = await admin.send(
            "/members", "/members", {"name": "X", "email": email, "role": "viewer"}
        )
        assert page.status == 422
        assert 'role="alert"' in page.text


async def test_a_link_leads_to_the_console_whatever_the_host_header_says(
    serve: Serve, enter: Enter, tmp_path: Path
) -> None:
    form = {"name": "Bo", "email": "bo@example.org", "role": "viewer"}
    console = await serve()
    admin = await enter(console, Role.ADMIN)
    token = await admin.token("/members")
    admin.session.headers["Host"] = "evil.example"
    page = await admin.post("/members", form, csrf=token)
    assert "evil.example" not in page.text
    assert unescape(ONCE.search(page.text)[1]).startswith("http://127.0.0.1:8321/link/")  # type: ignore[index]
    public = await serve(Settings(data_dir=tmp_path, public_url="https://messor.example"))
    admin.base = public
    page = await admin.send("/members", "/members", {**form, "email": "cy@example.org"})
    assert unescape(ONCE.search(page.text)[1]).startswith("https://messor.example/link/")  # type: ignore[index]


async def test_a_common_password_is_refused_when_changed(reviewer: Visitor) -> None:
    common = {"current": PASSWORD, "new": "password1234", "again": "password1234"}
    page = await reviewer.send("/account", "/account/password", common)
    assert page.status == 422
    assert "too common" in page.said


async def test_a_key_is_shown_once_works_and_is_revoked(
    database: Database, reviewer: Visitor
) -> None:
    form = [("name", "Nightly"), ("days", "30"), ("scope", "read"), ("scope", "crawl.control")]
    page = await reviewer.send("/account", "/account/keys", form)
    whole = ONCE.search(page.text)[1]  # type: ignore[index]
    principal = await keys.recognise(database, whole, Origin("127.0.0.1"))
    assert {act.value for act in principal.acts} == {"read", "crawl.control"}
    again = await reviewer.get("/account")
    assert whole not in again.text
    assert "Nightly" in again.text
    assert (
        await reviewer.send("/account", f"/account/keys/{principal.key_id}/revoke")
    ).status == 303
    assert "revoked" in (await reviewer.get("/account")).said


async def test_the_policy_of_a_key_is_set_shown_and_taken_away(
    database: Database, reviewer: Visitor
) -> None:
    await reviewer.send("/account", "/account/keys", [("name", "Agent"), ("scope", "read")])
    key_id = await database.fetchval("SELECT id FROM messor.api_keys")
    path = f"/account/keys/{key_id}/policy"
    form = {"domains": "example.org, example.net", "depth": "1", "pages": "20"}
    assert (await reviewer.send(path, path, form)).status == 303
    shown = await reviewer.get("/account")
    assert "approves example.net, example.org on first use" in " ".join(shown.text.split())
    wrong = await reviewer.send(path, path, {"domains": "::", "depth": "1", "pages": "20"})
    assert wrong.status == 422
    assert (await reviewer.send(path, path, {"act": "drop"})).status == 303
    assert await database.fetchval("SELECT count(*) FROM messor.key_policies") == 0


async def test_a_key_beyond_the_role_or_without_scope_is_refused(reviewer: Visitor) -> None:
    for scopes in ([], [("scope", "data.erase")], [("scope", "members.manage")]):
        page = await reviewer.send("/account", "/account/keys", [("name", "K"), *scopes])
        assert page.status == 422


async def test_somebody_elses_key_and_session_are_not_there(
    console: str, database: Database, admin: Visitor, enter: Enter
) -> None:
    await admin.send("/account", "/account/keys", [("name", "K"), ("scope", "read")])
    key_id = await database.fetchval("SELECT id FROM messor.api_keys")
    session_id = await database.fetchval("SELECT id FROM messor.sessions")
    other = await enter(console, Role.VIEWER)
    assert (await other.send("/account", f"/account/keys/{key_id}/revoke")).status == 404
    assert (
        await other.send("/account", "/account/sessions", {"session": str(session_id)})
    ).status == 404
    assert (await other.get("/keys")).status == 403
    assert await database.fetchval("SELECT revoked_at FROM messor.api_keys") is None


async def test_a_password_is_changed_with_the_old_one_and_ends_other_sessions(
    console: str, database: Database, reviewer: Visitor
) -> None:
    new = "another long sentence 7"
    wrong = {"current": "nope", "new": new, "again": new}
    assert (await reviewer.send("/account", "/account/password", wrong)).status == 422
    unlike = {"current": PASSWORD, "new": new, "again": f"{new}x"}
    assert (await reviewer.send("/account", "/account/password", unlike)).status == 422
    right = {"current": PASSWORD, "new": new, "again": new}
    assert (await reviewer.send("/account", "/account/password", right)).status == 303
    assert (await reviewer.get("/account")).status == 200
    assert (
        await database.fetchval("SELECT count(*) FROM messor.sessions WHERE ended_at IS NULL") == 1
    )


async def test_the_audit_log_says_who_in_words_and_goes_on_by_a_cursor(
    database: Database, admin: Visitor
) -> None:
    await database.fetch(
        """INSERT INTO messor.events (type, actor, data)
           SELECT 'domain.noted', 'tester', jsonb_build_object('note', 'number ' || n || '<i>')
             FROM generate_series(1, 120) n"""
    )
    form = {"name": "Ada", "email": "ada@example.org", "role": "viewer"}
    await admin.send("/members", "/members", form)
    page = await admin.get("/audit")
    assert "member created" in page.said
    assert "The admin" in page.said
    assert "<i>" not in page.text
    seen: set[str] = set()
    path = "/audit?kind=domain"
    while path:
        page = await admin.get(path)
        seen |= set(re.findall(r"note: number (\d+)", page.said))
        more = re.search(r'href="(/audit\?[^"]*cursor[^"]*)">Next', page.text)
        path = unescape(more[1]) if more else ""
    assert seen == {str(number) for number in range(1, 121)}
    assert "number 7<" not in (await admin.get("/audit?q=number+77")).said
    assert "number 77" in (await admin.get("/audit?q=number+77")).said
    assert (await admin.get("/audit?cursor=x_y&domain=no+such&kind=%00")).status == 200


async def test_only_admins_read_the_audit_log(reviewer: Visitor) -> None:
    assert (await reviewer.get("/audit")).status == 403
    assert (await reviewer.get("/proxies")).status == 403


async def test_the_schedule_is_overridden_reset_and_switched(
    database: Database, admin: Visitor, reviewer: Visitor
) -> None:
    page = await admin.get("/schedule")
    assert "by its default cadence" in page.said
    assert (
        await admin.send("/schedule", "/schedule/O-Audit", {"act": "set", "cadence": "@every 6h"})
    ).status == 303
    page = await admin.get("/schedule")
    assert "by its overridden cadence" in page.said
    assert "The admin" in page.said
    wrong = await admin.send("/schedule", "/schedule/O-Audit", {"act": "set", "cadence": "soon"})
    assert wrong.status == 422
    assert (await admin.send("/schedule", "/schedule/O-Audit", {"act": "reset"})).status == 303
    assert (await admin.send("/schedule", "/schedule/O-Audit", {"act": "disable"})).status == 303
    assert "switched off" in (await admin.get("/schedule")).said.lower()
    assert (await admin.send("/schedule", "/schedule/O-None", {"act": "reset"})).status == 404
    token = await reviewer.token("/schedule")
    assert (await reviewer.post("/schedule/O-Audit", {"act": "enable"}, csrf=token)).status == 403


async def test_a_proxy_is_added_without_telling_its_password(
    database: Database, admin: Visitor
) -> None:
    form = {"url": "http://ann@proxy.example:3128", "password": "s3cret-of-ann", "cost": "0.25"}
    assert (await admin.send("/proxies", "/proxies", form)).status == 303
    page = await admin.get("/proxies")
    assert "proxy.example:3128" in page.said
    assert "s3cret-of-ann" not in page.text
    assert "Requests and cost" not in page.said
    domain = await make_domain(database, "shop.test")
    await database.fetch(BILL, domain, await database.fetchval("SELECT id FROM messor.proxies"))
    bill = (await admin.get("/proxies")).said
    assert "shop.test http://proxy.example:3128 3 0.7500" in " ".join(bill.split())
    sql = "SELECT id, trusted, cost_per_request FROM messor.proxies"
    [(number, trusted, price)] = await database.fetch(sql)
    assert price == Decimal("0.25")
    assert not trusted  # should its name lead inside one day, it is refused
    for act in ("disable", "enable", "remove"):
        assert (await admin.send("/proxies", f"/proxies/{number}", {"act": act})).status == 303
    assert "No proxies" in (await admin.get("/proxies")).said
    for host in ("169.254.169.254", "192.168.1.1", "localhost"):
        inner = await admin.send("/proxies", "/proxies", {"url": f"http://{host}:3128"})
        assert (inner.status, "address is not allowed" in inner.said) == (422, True)
    wrong = await admin.send("/proxies", "/proxies", {"url": "ftp://u:topsecret@x"})
    assert wrong.status == 422
    assert "topsecret" not in wrong.text
