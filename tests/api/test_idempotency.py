"""A request sent twice under one key is done once and answered twice."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import httpx
from fastapi import FastAPI

from messor.access.roles import Role
from messor.api import idempotency
from messor.store.database import Database
from tests import crawling
from tests.api.conftest import AsRole, client_of, key_of, problem

D = "/api/v1/domains"
KEY = {"Idempotency-Key": "order-1"}


async def count(database: Database, what: str) -> int:
    found: int = await database.fetchval("SELECT count(*) FROM messor.events WHERE type = $1", what)
    return found


async def test_it_is_done_once_and_answered_twice(
    admin: httpx.AsyncClient, database: Database
) -> None:
    given = {"domain": "a.org", "context": "x"}
    first = await admin.post(D, json=given, headers=KEY)
    again = await admin.post(D, json=given, headers=KEY)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.content == first.content
    assert again.headers["location"] == first.headers["location"]
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert await count(database, "domain.submitted") == 1


async def test_twins_at_once_are_done_once(admin: httpx.AsyncClient, database: Database) -> None:
    await admin.post(D, json={"domain": "a.org"})
    answers = await asyncio.gather(
        *(admin.post(f"{D}/a.org/notes", json={"body": "once"}, headers=KEY) for _ in range(4))
    )
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert await count(database, "domain.noted") == 1


async def test_a_key_stands_for_one_request(admin: httpx.AsyncClient) -> None:
    await admin.post(D, json={"domain": "a.org"}, headers=KEY)
    other = await admin.post(D, json={"domain": "b.org"}, headers=KEY)
    problem(other, 422, "idempotency_key_reused")
    bad = {"Idempotency-Key": "with space"}
    problem(await admin.post(D, json={"domain": "b.org"}, headers=bad), 422, "usage")


async def test_each_caller_has_keys_of_their_own(
    admin: httpx.AsyncClient, as_role: AsRole, database: Database
) -> None:
    reviewer = await as_role(Role.REVIEWER)
    await admin.post(D, json={"domain": "a.org"})
    for client in (admin, reviewer):
        made = await client.post(f"{D}/a.org/notes", json={"body": "x"}, headers=KEY)
        assert "idempotency-replayed" not in made.headers
    assert await count(database, "domain.noted") == 2


async def test_a_refusal_is_not_kept(admin: httpx.AsyncClient) -> None:
    note = f"{D}/a.org/notes"
    problem(await admin.post(note, json={"body": "x"}, headers=KEY), 404, "not_found")
    await admin.post(D, json={"domain": "a.org"})
    assert (await admin.post(note, json={"body": "x"}, headers=KEY)).status_code == 201


async def test_work_in_many_transactions_is_kept_too(
    admin: httpx.AsyncClient, database: Database
) -> None:
    await admin.post(D, json={"domain": "a.org"})
    await admin.post(f"{D}/a.org/decisions", json={"act": "approve"})
    given = {"name": "news", "urls": ["https://a.org/1", "https://a.org/2"]}
    first = await admin.post("/api/v1/batches", json=given, headers=KEY)
    again = await admin.post("/api/v1/batches", json=given, headers=KEY)
    assert first.status_code == 201
    assert again.json() == first.json()
    assert await database.fetchval("SELECT count(*) FROM messor.task_batches") == 1


async def test_one_under_way_is_not_begun_again(
    admin: httpx.AsyncClient, database: Database
) -> None:
    given = {"act": "pause", "everything": True}
    await admin.post("/api/v1/tasks/acts", json=given, headers=KEY)
    await database.fetch("UPDATE messor.idempotency_keys SET status = NULL, body = NULL")
    again = await admin.post("/api/v1/tasks/acts", json=given, headers=KEY)
    problem(again, 409, "conflict")
    await database.fetch(
        "UPDATE messor.idempotency_keys SET begun_at = begun_at - interval '1 hour'"
    )
    anew = await admin.post("/api/v1/tasks/acts", json=given, headers=KEY)
    assert anew.status_code == 200


async def test_a_secret_is_not_kept(admin: httpx.AsyncClient, database: Database) -> None:
    given = {"name": "ci", "scopes": ["read"]}
    made = await admin.post("/api/v1/keys", json=given, headers=KEY)
    assert made.status_code == 201
    problem(await admin.post("/api/v1/keys", json=given, headers=KEY), 409, "conflict")
    kept = await database.fetchval("SELECT body FROM messor.idempotency_keys")
    assert kept is None
    assert await count(database, "key.created") == 1


async def test_answers_run_out(app: FastAPI, dsn: str, database: Database) -> None:
    key = await key_of(database, Role.ADMIN)
    headers = {"Authorization": f"Bearer {key}", **KEY}
    async with client_of(app, headers=headers) as client:
        await client.post(D, json={"domain": "a.org"})
    tomorrow = Database(crawling.later(dsn, timedelta(hours=25)), pool_size=2)
    async with tomorrow, tomorrow.transaction() as connection:
        assert await idempotency.sweep(connection) == 1
        assert await idempotency.sweep(connection) == 0
