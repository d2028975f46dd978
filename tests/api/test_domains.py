"""Domains over the API: asked for, listed, decided on; decisions are not taken over others'."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from messor.access.roles import Role
from messor.ledger.queries import START
from messor.store.database import Database
from tests.api.conftest import AsRole, client_of, key_of, problem
from tests.recorded import read_after

D = "/api/v1/domains"


async def ask(client: httpx.AsyncClient, name: str, **more: Any) -> dict[str, Any]:
    answer = await client.post(D, json={"domain": name, "preflight": False, **more})
    assert answer.status_code in (200, 201), answer.text
    found: dict[str, Any] = answer.json()
    return found


async def decide(client: httpx.AsyncClient, name: str, **decision: Any) -> httpx.Response:
    return await client.post(f"{D}/{name}/decisions", json=decision)


async def test_a_submission_strips_protocol_and_path(admin: httpx.AsyncClient) -> None:
    given = {"domain": "https://www.foodbank.org/help?x=1", "context": "State food bank"}
    answer = await admin.post(D, json=given)
    assert answer.status_code == 201
    assert answer.headers["location"] == f"{D}/foodbank.org"
    body = answer.json()
    assert body["outcome"] == "new"
    assert body["domain"]["domain"] == "foodbank.org"
    assert body["domain"]["status"] == "pending_review"
    assert body["domain"]["max_crawl_depth"] == 3
    again = await admin.post(D, json=given)
    assert again.status_code == 200
    assert again.json()["outcome"] == "pending"


async def test_an_approved_one_asks_whether_to_rescrape(admin: httpx.AsyncClient) -> None:
    await ask(admin, "foodbank.org")
    said = (await decide(admin, "foodbank.org", act="approve")).json()["message"]
    assert "No worker is running" in said
    again = await ask(admin, "foodbank.org")
    assert (again["outcome"], again["asks"]) == ("approved", "rescrape")
    due = await admin.post(f"{D}/foodbank.org/rescrape")
    assert due.status_code == 202
    assert due.json()["pages"] >= 1


async def test_all_decisions_of_a_life(admin: httpx.AsyncClient) -> None:
    await ask(admin, "a.org")
    steps: list[tuple[dict[str, Any], str]] = [
        ({"act": "reject", "reason": "a shop", "notify": True}, "rejected"),
    ]
    for decision, status in steps:
        assert (await decide(admin, "a.org", **decision)).json()["domain"]["status"] == status
    await ask(admin, "a.org", context="it is no shop any more")
    for decision, status in (
        ({"act": "approve"}, "approved"),
        ({"act": "trust"}, "approved"),
        ({"act": "untrust"}, "approved"),
        ({"act": "no_funds", "year": 2026}, "approved"),
        ({"act": "revive"}, "approved"),
        ({"act": "suspend"}, "suspended"),
        ({"act": "resume"}, "approved"),
        ({"act": "review_again", "reason": "it was sold"}, "pending_review"),
        ({"act": "blacklist", "reason": "malware"}, "blacklisted"),
    ):
        answer = await decide(admin, "a.org", **decision)
        assert answer.status_code == 200, answer.text
        assert answer.json()["domain"]["status"] == status
    problem(await decide(admin, "a.org", act="approve"), 409, "conflict")


async def test_reasons_are_required_and_nothing_else_is_taken(admin: httpx.AsyncClient) -> None:
    await ask(admin, "a.org")
    body = problem(await decide(admin, "a.org", act="reject"), 422, "invalid")
    assert body["errors"][0]["where"] == ["body", "reject", "reason"]
    problem(await decide(admin, "a.org", act="blacklist", reason=" "), 422, "usage")
    problem(await decide(admin, "a.org", act="approve", status="approved"), 422, "invalid")
    problem(await decide(admin, "a.org", act="promote"), 422, "invalid")
    given = {"domain": "b.org", "status": "approved", "is_trusted_domain": True}
    problem(await admin.post(D, json=given), 422, "invalid")
    problem(await decide(admin, "unknown.org", act="approve"), 404, "not_found")
    problem(await decide(admin, "localhost", act="approve"), 422, "usage")


async def test_a_decision_names_what_it_saw(admin: httpx.AsyncClient, as_role: AsRole) -> None:
    await ask(admin, "a.org")
    seen = (await admin.get(f"{D}/a.org")).headers["etag"]
    other = await as_role(Role.REVIEWER)
    assert (await decide(other, "a.org", act="reject", reason="a shop")).status_code == 200
    late = await admin.post(
        f"{D}/a.org/decisions", json={"act": "blacklist", "reason": "x"}, headers={"If-Match": seen}
    )
    problem(late, 412, "precondition_failed")
    now = (await admin.get(f"{D}/a.org")).headers["etag"]
    done = await admin.post(
        f"{D}/a.org/decisions",
        json={"act": "blacklist", "reason": "x"},
        headers={"If-Match": f'"other", {now}'},
    )
    assert done.status_code == 200
    assert done.headers["etag"] != now


async def test_figures_of_a_crawl_do_not_hinder_a_decision(
    admin: httpx.AsyncClient, database: Database
) -> None:
    await ask(admin, "a.org")
    await decide(admin, "a.org", act="approve")
    seen = (await admin.get(f"{D}/a.org")).headers["etag"]
    await database.fetch("UPDATE messor.domains SET pages_known = pages_known + 7")
    fresh = await admin.get(f"{D}/a.org", headers={"If-None-Match": seen})
    assert fresh.status_code == 200
    changed = await admin.patch(f"{D}/a.org", json={"delay": 2}, headers={"If-Match": seen})
    assert changed.status_code == 200, changed.text
    stale = await admin.patch(f"{D}/a.org", json={"delay": 3}, headers={"If-Match": seen})
    problem(stale, 412, "precondition_failed")


async def test_reads_that_bring_nothing_new_have_no_body(admin: httpx.AsyncClient) -> None:
    await ask(admin, "a.org")
    for path in (D, f"{D}/a.org", f"{D}/a.org/dossier", "/api/v1/review"):
        first = await admin.get(path)
        tag = first.headers["etag"]
        again = await admin.get(path, headers={"If-None-Match": f'"x", W/{tag}'})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == tag


async def test_terms_are_changed_one_by_one(admin: httpx.AsyncClient) -> None:
    await ask(admin, "a.org")
    answer = await admin.patch(f"{D}/a.org", json={"delay": 0.5, "on_block": "failover"})
    assert answer.json()["crawl_delay_seconds"] == 0.5
    assert answer.json()["on_block"] == "failover"
    back = await admin.patch(f"{D}/a.org", json={"delay": None})
    assert back.json()["crawl_delay_seconds"] is None
    problem(await admin.patch(f"{D}/a.org", json={}), 422, "usage")
    for bad in ({"delay": -1}, {"delay": "NaN"}, {"page_budget": 0}, {"status": "approved"}):
        problem(await admin.patch(f"{D}/a.org", json=bad), 422, "invalid")


@pytest.mark.parametrize("sort", ["domain", "-domain", "created_at", "-created_at", "-reviewed_at", "pages_known", "last_processed_at"])  # fmt: skip
async def test_lists_are_paged_whole_in_every_order(admin: httpx.AsyncClient, sort: str) -> None:
    names = {f"site{number}.org" for number in range(7)}
    for name in sorted(names):
        await ask(admin, name)
    await decide(admin, "site3.org", act="approve")
    seen: list[str] = []
    cursor: str | None = None
    while True:
        params: dict[str, Any] = {"sort": sort, "limit": 3}
        if cursor:
            params["cursor"] = cursor
        body = (await admin.get(D, params=params)).json()
        seen += [item["domain"] for item in body["items"]]
        cursor = body["next"]
        if cursor is None:
            break
    assert len(seen) == 7
    assert set(seen) == names
    if sort == "-domain":
        assert seen == sorted(names, reverse=True)


async def test_filters(admin: httpx.AsyncClient) -> None:
    for name in ("apple.org", "pear.org", "plum.com"):
        await ask(admin, name)
    await decide(admin, "pear.org", act="approve")

    async def found(**params: Any) -> set[str]:
        body = (await admin.get(D, params=params)).json()
        return {item["domain"] for item in body["items"]}

    assert await found(status="approved") == {"pear.org"}
    assert await found(q=".ORG") == {"apple.org", "pear.org"}
    assert await found(view="pending") == {"apple.org", "plum.com"}
    assert await found(processing="processing") == {"pear.org"}
    assert await found(trusted=True) == set()


async def test_a_parameter_that_would_be_ignored_is_refused(admin: httpx.AsyncClient) -> None:
    """A misspelt filter must not list everything."""
    told = problem(await admin.get(D, params={"statuss": "approved"}), 422, "usage")
    assert "Unknown query parameter 'statuss'" in told["detail"]
    twice = await admin.get(D, params=[("status", "approved"), ("status", "rejected")])
    assert "'status' may be given only once" in problem(twice, 422, "usage")["detail"]
    assert (await admin.get(D, params={"status": "approved"})).status_code == 200


async def test_a_cursor_is_good_for_its_list_alone(admin: httpx.AsyncClient) -> None:
    for number in range(3):
        await ask(admin, f"site{number}.org")
    cursor = (await admin.get(D, params={"limit": 1})).json()["next"]
    assert (await admin.get(D, params={"limit": 1, "cursor": cursor})).status_code == 200
    for params in (
        {"cursor": cursor, "sort": "-domain"},
        {"cursor": cursor, "status": "approved"},
        {"cursor": cursor[:-2]},
        {"cursor": "AAAA"},
    ):
        problem(await admin.get(D, params=params), 422, "usage")
    problem(await admin.get("/api/v1/review", params={"cursor": cursor}), 422, "usage")
    for params in ({"cursor": "../x"}, {"limit": "1000000000"}, {"limit": 0}, {"sort": "id; DROP"}):
        problem(await admin.get(D, params=params), 422, "invalid")


async def test_many_are_decided_each_for_itself(
    admin: httpx.AsyncClient, database: Database
) -> None:
    for name in ("a.org", "b.org"):
        await ask(admin, name)
    body = {"domains": ["a.org", "b.org", "c.org", "a.org"], "decision": {"act": "approve"}}
    done = (await admin.post("/api/v1/decisions", json=body)).json()
    assert (done["done"], done["refused"]) == (2, 1)
    assert [verdict["code"] for verdict in done["verdicts"]] == ["ok", "ok", "not_found"]
    told = await read_after(database, START)
    actors = {event.actor for event in told if event.type == "domain.approved"}
    assert all(actor.startswith("member:") for actor in actors)


async def test_notes_dossier_queue_and_preflight(admin: httpx.AsyncClient) -> None:
    await ask(admin, "a.org", context="Please", contact="jane@example.org")
    assert (await admin.post(f"{D}/a.org/notes", json={"body": "by phone"})).status_code == 201
    problem(await admin.post(f"{D}/a.org/notes", json={"body": "  "}), 422, "usage")
    asked = await admin.post(f"{D}/a.org/preflight")
    assert asked.status_code == 202
    assert asked.json()["preflight"]
    assert (await admin.post(f"{D}/a.org/preflight")).json()["preflight"] is None
    dossier = (await admin.get(f"{D}/a.org/dossier")).json()
    assert dossier["notes"][0]["body"] == "by phone"
    assert dossier["submissions"][0]["has_contact"] is True
    assert "jane" not in str(dossier)
    waiting = (await admin.get("/api/v1/review")).json()["items"]
    assert [(row["domain"], row["notes"]) for row in waiting] == [("a.org", 1)]
    assert (await admin.get(f"{D}/a.org/notes")).json()["items"][0]["author"].startswith("member:")


async def test_urls_go_by_their_domain(admin: httpx.AsyncClient) -> None:
    given = {"url": "https://a.org/help"}
    offered = (await admin.post("/api/v1/urls", json=given)).json()
    assert (offered["outcome"], offered["asks"]) == ("offered", "submit")
    taken = (await admin.post("/api/v1/urls", json={**given, "submit": True})).json()
    assert taken["outcome"] == "remembered"
    decided = (await decide(admin, "a.org", act="approve")).json()
    assert "1 submitted URL is crawled with it" in decided["message"]
    crawling = (await admin.post("/api/v1/urls", json={"url": "https://a.org/more"})).json()
    assert crawling["outcome"] == "crawling"
    assert crawling["page_id"]
    problem(await admin.post("/api/v1/urls", json={"url": "ftp://a.org/"}), 422, "usage")


async def test_import_purge_and_erasure(admin: httpx.AsyncClient) -> None:
    lines = ["a.org, 2, first", "a.org", "not a domain", "# remark", "b.org"]
    done = (await admin.post(f"{D}/import", json={"lines": lines, "start": False})).json()["lines"]
    assert [line["outcome"] for line in done] == ["approved", "left", "refused", "approved"]
    problem(await admin.post(f"{D}/a.org/purge"), 409, "conflict")
    await decide(admin, "a.org", act="suspend")
    purged = (await admin.post(f"{D}/a.org/purge")).json()
    assert purged["domain"] == "a.org"
    assert (await admin.get(f"{D}/a.org/holdings")).json()["pages"] == 0
    given = {"kind": "domain", "what": "b.org", "reason": "asked by its owner"}
    assert (await admin.post("/api/v1/erasures", json=given)).status_code == 201
    assert (await admin.get(f"{D}/b.org")).json()["status"] == "blacklisted"
    problem(await admin.post("/api/v1/erasures", json={**given, "reason": " "}), 422, "usage")


@pytest.mark.parametrize(
    "role, kind",
    [(Role.ADMIN, "admin"), (Role.REVIEWER, "admin"), (Role.SUBMITTER, "public_user")],
)
async def test_the_member_behind_a_key_submits_in_their_role(
    role: Role, kind: str, app: FastAPI, database: Database
) -> None:
    """`submitted_by` is the member even through a key; the event names the key itself."""
    key = await key_of(database, role)
    client = client_of(app, headers={"Authorization": f"Bearer {key}"})
    async with client:
        found = (await ask(client, "foodbank.org", delay=4.5))["domain"]
        await ask(client, "foodbank.org", context="more to say")
        await client.post("/api/v1/urls", json={"url": "https://foodbank.org/one"})
    member = await database.fetchval("SELECT member_id FROM messor.api_keys")
    who = (f"member:{member}", kind)
    assert (found["submitted_by"], found["submitter_type"]) == who
    assert found["crawl_delay_seconds"] == 4.5
    for table in ("domain_submissions", "submitted_urls"):
        rows = await database.fetch(f"SELECT submitted_by, submitter_type FROM messor.{table}")
        assert rows, table
        assert {tuple(row) for row in rows} == {who}, table
    actor = await database.fetchval(
        "SELECT actor FROM messor.events WHERE type = 'domain.submitted'"
    )
    assert actor.startswith("key:")


async def test_approval_sends_what_discovery_needs(admin: httpx.AsyncClient) -> None:
    """The event carries the start URL, the depth and the rate, as the domain has them."""
    await ask(admin, "https://foodbank.org/help", max_crawl_depth=2, delay=3)
    await ask(admin, "plain.org")
    for name in ("foodbank.org", "plain.org"):
        await decide(admin, name, act="approve")
    answer = await admin.get("/api/v1/events", params={"type": "domain.approved"})
    sent = {event["domain"]: event["data"] for event in answer.json()["items"]}
    keys = ("start_url", "max_depth", "rate_limit")
    assert [sent["foodbank.org"][key] for key in keys] == ["https://foodbank.org/", 2, 3.0]
    assert [sent["plain.org"][key] for key in keys] == ["https://plain.org/", 3, None]
