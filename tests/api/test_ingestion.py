"""`POST /api/orbit/{slug}/ingest` with a real worker: the specified answer, at once or later."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from messor.access.csrf import csrf_token
from messor.access.roles import Role
from messor.api.app import SESSION_COOKIE
from messor.registry import domains
from messor.store.database import Database
from simweb.answers import plain
from tests.api.conftest import AsRole, api_over, client_of, problem, session_of
from tests.crawling import at_work
from tests.little_web import LittleWeb, page

INGEST = "/api/orbit/one-test/ingest"
SITE = {"url": "http://one.test/", "mode": "light"}


@pytest.fixture
async def site(tmp_path: Path, database: Database) -> AsyncIterator[LittleWeb]:
    rooms = {
        "/": page("Home", "/about", "/contact"),
        "/about": page("About us"),
        "/contact": page("Contact"),
    }
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        async with database.transaction() as connection:
            asked = domains.Submission.understand("http://one.test/")
            domain, _ = await domains.submit(connection, asked, actor="tester")
            await domains.configure(connection, domain, actor="tester", delay=0.02)
        async with at_work(web.settings(), database):
            yield web


@pytest.fixture
async def reviewer(site: LittleWeb, database: Database) -> AsyncIterator[httpx.AsyncClient]:
    app = api_over(site.settings(), database)
    token = await session_of(database, Role.REVIEWER)
    headers = {"X-CSRF-Token": csrf_token(token)}
    async with client_of(app, cookies={SESSION_COOKIE: token}, headers=headers) as client:
        yield client
    await app.state.context.close()


async def test_the_answer_is_the_specified_one(reviewer: httpx.AsyncClient) -> None:
    answer = await reviewer.post(INGEST, json={**SITE, "userUrls": []}, timeout=180)
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert set(body) == {"success", "tiles", "evidence"}
    assert body["success"] is True
    assert set(body["tiles"][0]) == {
        "id", "category", "title", "summary", "items", "sourceUrl", "snapshotId", "confidence",
    }  # fmt: skip
    evidence = body["evidence"]
    assert set(evidence) == {"traceId", "nm_policyVersion", "nm_ingest"}
    assert evidence["nm_policyVersion"] == "orbitBehaviourContract.v1.1.0"
    assert set(evidence["nm_ingest"]) == {
        "mode", "discoverySources", "pagesPlanned", "pagesFetched", "pagesUsed", "cacheHits",
        "cacheMisses", "outcome", "frictionSignals", "domainRiskScore", "durationMs",
    }  # fmt: skip
    assert evidence["nm_ingest"]["outcome"] == "success"
    orbit = (await reviewer.get("/api/v1/orbits/one-test")).json()
    assert [tile["id"] for tile in orbit["tiles"]] == [tile["id"] for tile in body["tiles"]]
    assert orbit["domain"] == "one.test"
    listed = (await reviewer.get("/api/v1/ingestions", params={"orbit": "one-test"})).json()
    assert [run["trace_id"] for run in listed["items"]] == [evidence["traceId"]]


async def finished(client: httpx.AsyncClient, path: str) -> dict[str, Any]:
    async with asyncio.timeout(180):
        while True:
            run: dict[str, Any] = (await client.get(path)).json()
            if run["stage"] == "done":
                return run
            await asyncio.sleep(0.05)


async def test_later_on_request_with_progress(reviewer: httpx.AsyncClient) -> None:
    headers = {"Prefer": "respond-async, wait=5", "Idempotency-Key": "run-1"}
    answer = await reviewer.post(INGEST, json=SITE, headers=headers)
    assert answer.status_code == 202, answer.text
    assert answer.headers["preference-applied"] == "respond-async"
    run = answer.json()
    assert run["outcome"] is None
    path = answer.headers["location"]
    assert path == f"/api/v1/ingestions/{run['trace_id']}"
    again = await reviewer.post(INGEST, json=SITE, headers=headers)
    assert again.status_code == 202
    assert again.json()["trace_id"] == run["trace_id"]
    done = await finished(reviewer, path)
    assert done["outcome"] == "success"
    assert done["planned"] == done["fetched"] == 3
    assert done["evidence"]["traceId"] == run["trace_id"]
    assert len(done["tiles"]) == 3
    problem(await reviewer.get(f"/api/v1/ingestions/{'0' * 32}"), 404, "not_found")


async def test_without_a_mode_it_is_standard(reviewer: httpx.AsyncClient) -> None:
    answer = await reviewer.post(
        INGEST, json={"url": SITE["url"]}, headers={"Prefer": "respond-async"}
    )
    assert answer.status_code == 202, answer.text
    done = await finished(reviewer, answer.headers["location"])
    assert done["evidence"]["nm_ingest"]["mode"] == done["mode"] == "standard"


async def test_a_site_that_refuses_is_an_outcome_with_guidance(
    reviewer: httpx.AsyncClient, site: LittleWeb
) -> None:
    for path in ("/", "/about", "/contact"):
        site.houses["one.test"].rooms[path] = plain(403, "Forbidden")
    answer = await reviewer.post(INGEST, json=SITE, timeout=180)
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert body["success"] is False
    assert body["evidence"]["nm_ingest"]["outcome"] == "blocked"
    assert body["blocked"]["guidance"]
    kinds = [offer["kind"] for offer in body["blocked"]["offers"]]
    assert kinds == ["user_assisted", "manual_import"]


async def test_an_error_explains_itself(reviewer: httpx.AsyncClient, site: LittleWeb) -> None:
    """A sentence, what to do, and evidence: in the answer, and when it is looked up later."""
    for path in ("/", "/about", "/contact"):
        site.houses["one.test"].rooms[path] = plain(404, "gone")
    answer = await reviewer.post(INGEST, json=SITE, timeout=180)
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert (body["success"], body["tiles"]) == (False, [])
    assert body["evidence"]["nm_ingest"]["outcome"] == "error"
    error = body["error"]
    assert error["message"].startswith("No content was read from one.test: http://one.test/: ")
    assert error["guidance"][-1] == "Check the URL, or give existing pages in user_assisted mode."
    assert [offer["kind"] for offer in error["offers"]] == ["retry", "manual_import"]
    assert error["offers"][0]["command"] == "messor crawl http://one.test/ --mode light"
    trace_id = body["evidence"]["traceId"]
    stored = (await reviewer.get(f"/api/v1/ingestions/{trace_id}")).json()
    assert stored["evidence"] == body["evidence"]
    assert stored["evidence"]["error"] == error


async def test_the_version_in_service_and_the_one_it_replaced(admin: httpx.AsyncClient) -> None:
    answer = await admin.get("/api/orbit/version")
    assert answer.status_code == 200
    body = answer.json()
    assert (body["version"], body["nm_policyVersion"]) == (
        "2.0.0", "orbitBehaviourContract.v1.1.0",
    )  # fmt: skip
    told = [(one["version"], one["released"], one["state"]) for one in body["history"]]
    assert told == [("2.0.0", "2026-01", "current"), ("1.0.0", "2025-12", "deprecated")]


async def test_who_may_not_approve_is_told_so(as_role: AsRole, admin: httpx.AsyncClient) -> None:
    submitter = await as_role(Role.SUBMITTER)
    given = {"url": "https://new.org/help", "mode": "standard"}
    body = problem(
        await submitter.post("/api/orbit/new-org/ingest", json=given), 409, "needs_approval"
    )
    assert body["retryable"] is True
    waiting = (await admin.get("/api/v1/review")).json()["items"]
    assert [row["domain"] for row in waiting] == ["new.org"]
    viewer = await as_role(Role.VIEWER)
    problem(await viewer.post("/api/orbit/new-org/ingest", json=given), 403, "forbidden")


@pytest.mark.parametrize(
    "given, code",
    [
        ({"url": "https://a.org/", "mode": "heavy"}, "invalid"),
        ({"url": "https://a.org/", "mode": "light", "userUrls": ["https://a.org/x"]}, "usage"),
        ({"url": "https://a.org/", "mode": "user_assisted"}, "usage"),
        (
            {"url": "https://a.org/", "mode": "user_assisted", "userUrls": ["https://b.org/"]},
            "usage",
        ),
        ({"url": "file:///etc/passwd"}, "usage"),
        ({"url": "https://a.org/", "may_approve": True}, "invalid"),
        ({}, "invalid"),
    ],
)
async def test_what_makes_no_sense_is_refused(
    admin: httpx.AsyncClient, given: dict[str, Any], code: str
) -> None:
    problem(await admin.post(INGEST, json=given), 422, code)
    problem(await admin.post("/api/orbit/Not%20A%20Slug/ingest", json=SITE), 422, "invalid")
