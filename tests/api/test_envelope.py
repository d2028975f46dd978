"""Hostile requests: too long, too deep, malformed; and faults of ours, of which nothing is told."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import httpx
import pytest
from fastapi import APIRouter, FastAPI

from messor.access.roles import Act, Role
from messor.api.app import make_api
from messor.api.context import TransactionDep
from messor.api.envelope import DEFAULT_BODY
from messor.api.gate import GatedRoute, needs
from messor.settings import Settings
from messor.store.database import Database
from tests.api.conftest import PLENTY, client_of, key_of, problem

D = "/api/v1/domains"


async def test_every_answer_carries_an_id_and_protects_browsers(
    admin: httpx.AsyncClient, anybody: httpx.AsyncClient
) -> None:
    for answer in (
        await admin.get(D),
        await anybody.get(D),
        await admin.get("/nothing/here"),
        await anybody.get("/api/v1/health/live"),
    ):
        assert answer.headers["x-request-id"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-frame-options"] == "DENY"
    problem(await admin.get("/nothing/here"), 404, "not_found")
    wrong = await admin.put(D)
    problem(wrong, 405, "method_not_allowed")
    assert "GET" in wrong.headers["allow"] or "POST" in wrong.headers["allow"]


async def test_a_sane_id_is_echoed_another_is_not(admin: httpx.AsyncClient) -> None:
    sane = await admin.get(D, headers={"X-Request-Id": "trace-12345678"})
    assert sane.headers["x-request-id"] == "trace-12345678"
    for bad in ("short", "x" * 101, "has space in it", "evil;rm -rf", 'quote"quote"'):
        other = await admin.get(D, headers={"X-Request-Id": bad})
        assert other.headers["x-request-id"] != bad


async def test_long_bodies_are_refused_declared_or_not(admin: httpx.AsyncClient) -> None:
    body = b'{"domain": "' + b"a" * DEFAULT_BODY + b'"}'
    headers = {"Content-Type": "application/json"}
    problem(await admin.post(D, content=body, headers=headers), 413, "too_large")
    problem(await admin.post("/api/v1/urls", content=body, headers=headers), 413, "too_large")

    async def pieces() -> Any:
        for start in range(0, len(body), 65_536):
            yield body[start : start + 65_536]

    problem(await admin.post(D, content=pieces(), headers=headers), 413, "too_large")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"x"',
        b"[" * 100_000,
        b'{"domain":' * 20_000,
        b'{"domain": "\\ud800.org"}',
        b'{"domain": "\\u0000.org"}',
        b'{"domain": 1e400}',
        b'{"domain": NaN}',
        b"\xff\xfe\x00",
        b'{"domain": "a.org", "domain2": 1}',
        b'{"domain": "a.org", "max_crawl_depth": 1000000000000000000000000000}',
        b'{"domain": "a.org", "max_crawl_depth": ' + b"9" * 5_000 + b"}",
        b'{"domain": {"$ne": null}}',
    ],
)
async def test_malformed_bodies_are_refused(admin: httpx.AsyncClient, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    answer = await admin.post(D, content=body, headers=headers)
    assert answer.status_code in (400, 422), answer.text
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "name", ["q", "sort", "status", "limit", "cursor", "processing", "trusted"]
)
@pytest.mark.parametrize(
    "value",
    ["\x00", "'", "1e9", "-1", "' OR 1=1 --", "%", "\ud7ff", "🕷" * 500, "../../etc/passwd", "[]"],
)
async def test_odd_filters_are_refused_or_find_nothing(
    admin: httpx.AsyncClient, name: str, value: str
) -> None:
    answer = await admin.get(D, params={name: value})
    assert answer.status_code in (200, 422), answer.text
    if answer.status_code == 200:
        assert answer.json()["items"] == []


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/snapshots/..%2f..%2fetc%2fpasswd/html",
        "/api/v1/snapshots/1%00/html",
        "/api/v1/snapshots/-1/html",
        "/api/v1/snapshots/99999999999999999999999/html",
        "/api/v1/snapshots/1/../../../../etc/passwd",
        "/api/v1/pages/1e3",
        "/api/v1/batches/..%2f",
        "/api/v1/domains/..%2f..%2f",
        "/api/v1/orbits/..%5c..%5c",
        "/api/v1/ingestions/../../x",
    ],
)
async def test_paths_that_climb_are_refused(admin: httpx.AsyncClient, path: str) -> None:
    answer = await admin.get(path)
    assert answer.status_code in (404, 422)


@pytest.fixture
async def own_app(settings: Settings, database: Database) -> AsyncIterator[FastAPI]:
    """One that no other test uses: routes may be added to it."""
    made = make_api(settings, database, limits=PLENTY)
    yield made
    await made.state.context.close()


async def test_a_fault_of_ours_tells_its_id_alone(
    own_app: FastAPI, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    router = APIRouter(route_class=GatedRoute)

    @router.get("/api/v1/broken")
    @needs(Act.READ)
    async def broken(x: str) -> None:
        raise RuntimeError("the password is hunter2 in /etc/secret")

    own_app.include_router(router)
    key = await key_of(database, Role.VIEWER)
    async with client_of(own_app, headers={"Authorization": f"Bearer {key}"}) as client:
        with caplog.at_level(logging.ERROR):
            answer = await client.get(
                "/api/v1/broken?x=1%0d%0aERROR%20forged", headers={"X-Request-Id": "find-me-123"}
            )
    problem(answer, 500, "internal")
    assert "hunter2" not in answer.text
    assert "/etc" not in answer.text
    mine = [record for record in caplog.records if record.name == "messor.api"]
    assert [record.getMessage() for record in mine] == ["Request find-me-123 failed"]


async def test_a_process_is_alive_without_its_database(app: FastAPI, database: Database) -> None:
    await database.close()
    async with client_of(app) as client:
        assert (await client.get("/api/v1/health/live")).json() == {"status": "ok"}


async def test_ready_says_when_the_schema_is_another(
    anybody: httpx.AsyncClient, database: Database
) -> None:
    assert (await anybody.get("/api/v1/health/ready")).json()["status"] == "ok"
    await database.fetch("UPDATE messor.alembic_version SET version_num = '001'")
    answer = await anybody.get("/api/v1/health/ready")
    assert answer.status_code == 503
    assert answer.json()["status"] == "unavailable"


async def test_a_deadlock_is_tried_again_by_itself(own_app: FastAPI, database: Database) -> None:
    router, tries = APIRouter(route_class=GatedRoute), [0]

    @router.post("/api/v1/unlucky")
    @needs(Act.READ)
    async def unlucky(unit: TransactionDep) -> dict[str, int]:
        tries[0] += 1
        await unit.execute("SELECT 1")
        if tries[0] < 3:
            raise asyncpg.DeadlockDetectedError("deadlock detected")
        return {"tries": tries[0]}

    own_app.include_router(router)
    key = await key_of(database, Role.VIEWER)
    async with client_of(own_app, headers={"Authorization": f"Bearer {key}"}) as client:
        assert (await client.post("/api/v1/unlucky")).json() == {"tries": 3}


async def test_what_meets_a_lock_may_be_sent_again(
    admin: httpx.AsyncClient, database: Database
) -> None:
    await admin.post(D, json={"domain": "a.org"})
    async with database.transaction() as holder:
        await holder.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        await holder.execute("SELECT FROM messor.domains FOR UPDATE")
        answer = await admin.post(f"{D}/a.org/decisions", json={"act": "approve"})
    body = problem(answer, 503, "busy")
    assert body["retryable"] is True
    assert answer.headers["retry-after"]
