"""Events over the API: in commit order, and as a stream on a real socket that misses nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from messor.access import members, sessions
from messor.access.principal import LOCAL_ADMIN
from messor.access.roles import Role
from messor.api.app import SESSION_COOKIE
from messor.ledger.events import Event, record
from messor.store.database import Database
from tests.api.conftest import AsRole, member_of, problem
from tests.api.serving import Served

E = "/api/v1/events"


async def happen(database: Database, *types: str) -> None:
    for kind in types:
        async with database.transaction() as connection:
            await record(connection, [Event(kind, "tester", data={"said": "x"})])


async def test_pages_in_both_orders_miss_nothing(
    admin: httpx.AsyncClient, database: Database
) -> None:
    types = [f"tasks.{word}" for word in ("paused", "resumed", "retried", "stopped", "submitted")]
    await happen(database, *types)
    for order, expected in (("committed", types), ("-committed", types[::-1])):
        seen: list[str] = []
        params: dict[str, Any] = {"sort": order, "limit": 2}
        while True:
            body = (await admin.get(E, params=params)).json()
            seen += [item["type"] for item in body["items"]]
            if body["next"] is None:
                break
            params["cursor"] = body["next"]
        assert [kind for kind in seen if kind.startswith("tasks.")] == expected


async def test_a_transaction_under_way_holds_later_events_back(
    admin: httpx.AsyncClient, database: Database
) -> None:
    params = {"type": "tasks.paused,domain.trusted", "sort": "committed"}
    async with database.transaction() as slow:
        await record(slow, [Event("tasks.paused", "tester")])
        await happen(database, "domain.trusted")
        assert (await admin.get(E, params=params)).json()["items"] == []
    items = (await admin.get(E, params=params)).json()["items"]
    assert [item["type"] for item in items] == ["tasks.paused", "domain.trusted"]


async def test_who_logged_in_is_for_the_audit(
    admin: httpx.AsyncClient, as_role: AsRole, database: Database
) -> None:
    viewer = await as_role(Role.VIEWER)
    await happen(database, "page.flagged")
    seen = {item["type"] for item in (await viewer.get(E, params={"limit": 200})).json()["items"]}
    assert seen == {"page.flagged"}
    asked = await viewer.get(E, params={"type": "session.opened"})
    assert asked.json()["items"] == []
    seen = {item["type"] for item in (await admin.get(E, params={"limit": 200})).json()["items"]}
    assert {"session.opened", "member.created", "page.flagged"} <= seen


async def test_of_one_domain(admin: httpx.AsyncClient) -> None:
    for name in ("a.org", "b.org"):
        await admin.post("/api/v1/domains", json={"domain": name, "preflight": False})
    items = (await admin.get(E, params={"domain": "a.org"})).json()["items"]
    assert [item["type"] for item in items] == ["domain.submitted"]
    assert (await admin.get(E, params={"domain": "c.org"})).json()["items"] == []
    problem(await admin.get(E, params={"domain": "no domain"}), 422, "invalid")
    problem(await admin.get(E, params={"type": "x'; --"}), 422, "invalid")


@pytest.fixture
def served(dsn: str, tmp_path: Path) -> Iterator[Served]:
    with Served(dsn, tmp_path) as made:
        yield made


async def frames(answer: httpx.Response) -> AsyncIterator[dict[str, str]]:
    """The events of a stream, as a browser reads them."""
    frame: dict[str, str] = {}
    async for line in answer.aiter_lines():
        if line.startswith(":"):
            continue
        if line:
            name, _, value = line.partition(": ")
            frame[name] = value
        elif frame:
            if "data" in frame:
                yield frame
            frame = {}


async def test_a_stream_tells_what_happens_and_goes_on_where_it_was_left(
    served: Served, database: Database
) -> None:
    key = await asyncio.to_thread(served.key, Role.VIEWER)
    headers = {"Authorization": f"Bearer {key}"}
    await happen(database, "domain.noted")
    async with httpx.AsyncClient(base_url=served.url, headers=headers, timeout=120) as client:
        async with client.stream("GET", f"{E}/stream") as answer:
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith("text/event-stream")
            told = frames(answer)
            await happen(database, "tasks.submitted", "tasks.resumed")
            first = await anext(told)
            assert first["event"] == "tasks.submitted"
            body = msgspec.json.decode(first["data"])
            assert (body["type"], body["actor"], body["id"]) == (
                "tasks.submitted",
                "tester",
                first["id"],
            )
            assert (await anext(told))["event"] == "tasks.resumed"
        await happen(database, "tasks.stopped")
        left = {"Last-Event-ID": first["id"]}
        async with client.stream("GET", f"{E}/stream", headers=left) as answer:
            told = frames(answer)
            names = [(await anext(told))["event"] for _ in range(2)]
            assert names == ["tasks.resumed", "tasks.stopped"]
        only = {"type": "tasks.recrawled"}
        async with client.stream("GET", f"{E}/stream", params=only) as answer:
            told = frames(answer)
            await happen(database, "tasks.retried", "tasks.recrawled")
            assert (await anext(told))["event"] == "tasks.recrawled"
        bad = await client.get(f"{E}/stream", headers={"Last-Event-ID": "9" * 19 + "-1"})
        problem(bad, 422, "usage")
        problem(await client.get(f"{E}/stream", headers={"Last-Event-ID": "x"}), 422, "invalid")


async def test_a_stream_ends_with_its_session(served: Served, database: Database) -> None:
    token = await asyncio.to_thread(served.session, Role.ADMIN)
    cookies = {SESSION_COOKIE: token}
    async with (
        httpx.AsyncClient(base_url=served.url, cookies=cookies, timeout=120) as client,
        client.stream("GET", f"{E}/stream") as answer,
    ):
        lines = answer.aiter_lines()
        assert await anext(lines) == "retry: 2000"
        member = await member_of(database, Role.ADMIN)
        async with database.transaction() as connection:
            await sessions.revoke_all(connection, member.id, by=LOCAL_ADMIN)
        async with asyncio.timeout(120):
            async for line in lines:  # it ends by itself
                assert "session.all_revoked" not in line or line.startswith(("event", "data"))


async def test_a_stream_ends_when_a_role_changes(served: Served, database: Database) -> None:
    key = await asyncio.to_thread(served.key, Role.REVIEWER)
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        httpx.AsyncClient(base_url=served.url, headers=headers, timeout=120) as client,
        client.stream("GET", f"{E}/stream") as answer,
    ):
        lines = answer.aiter_lines()
        await anext(lines)
        async with database.transaction() as connection:
            member = await member_of(database, Role.REVIEWER)
            await members.set_role(connection, member, Role.VIEWER, by=LOCAL_ADMIN)
        async with asyncio.timeout(120):
            assert [line async for line in lines if line.startswith("data")] == []
