"""The API over a test's database, and somebody of every role to ask it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from starlette.applications import Starlette

from messor.access import csrf, keys, members, sessions
from messor.access.members import Member
from messor.access.origin import Origin
from messor.access.principal import LOCAL_ADMIN
from messor.access.ratelimits import Limit
from messor.access.roles import Role, key_acts_of
from messor.access.sessions import Lifetimes
from messor.api.app import SESSION_COOKIE, make_api
from messor.api.context import ApiLimits
from messor.settings import Settings
from messor.store.database import Database

BASE = "http://127.0.0.1:8321"
PLENTY = ApiLimits(
    known=Limit(1_000_000, timedelta(minutes=1)), unknown=Limit(1_000_000, timedelta(minutes=1))
)

AsRole = Callable[[Role], Awaitable[httpx.AsyncClient]]


@pytest.fixture
async def database(dsn: str) -> AsyncIterator[Database]:
    async with Database(dsn, pool_size=8) as opened:
        yield opened


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, contact="https://example.invalid/tests")


@cache
def _routes() -> FastAPI:
    return make_api(Settings(), Database("postgresql://nowhere"))


def api_over(settings: Settings, database: Database) -> FastAPI:
    """The API over a database, one at a time.

    An application works its routes out at its first request, a third of a second each time; they
    are the same for all, so they are kept. Whatever else there is belongs to the house, a new one.
    """
    app = _routes()
    app.state.context = make_api(settings, database, limits=PLENTY).state.context
    return app


@pytest.fixture
async def app(settings: Settings, database: Database) -> AsyncIterator[FastAPI]:
    made = api_over(settings, database)
    house = made.state.context
    yield made
    await house.close()


async def member_of(database: Database, role: Role) -> Member:
    email = f"{role}@example.org"
    async with database.transaction() as connection:
        row = await connection.fetchval("SELECT id FROM messor.members WHERE email = $1", email)
        if row is not None:
            return await members.get(connection, email)
        return await members.create(
            connection, email=email, name=role.title(), role=role, by=LOCAL_ADMIN
        )


async def session_of(database: Database, role: Role) -> str:
    """The cookie of somebody who is logged in."""
    member = await member_of(database, role)
    async with database.transaction() as connection:
        opened = await sessions.open_session(
            connection,
            member,
            opened_by="password",
            origin=Origin("127.0.0.1", "tests"),
            lifetimes=Lifetimes(),
        )
    return opened.token.reveal()


async def key_of(database: Database, role: Role, scopes: Any = None) -> str:
    member = await member_of(database, role)
    async with database.transaction() as connection:
        _, secret = await keys.create(
            connection,
            member,
            name="tests",
            scopes=scopes or key_acts_of(role),
            by=LOCAL_ADMIN,
        )
    return secret.reveal()


def client_of(app: Starlette, **how: Any) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 40000))
    return httpx.AsyncClient(transport=transport, base_url=BASE, **how)


@pytest.fixture
async def as_role(app: FastAPI, database: Database) -> AsyncIterator[AsRole]:
    """A client logged in as somebody of a role, with the token that changes need."""
    async with AsyncExitStack() as opened:

        async def enter(role: Role) -> httpx.AsyncClient:
            token = await session_of(database, role)
            client = client_of(
                app,
                cookies={SESSION_COOKIE: token},
                headers={"X-CSRF-Token": csrf.csrf_token(token)},
            )
            return await opened.enter_async_context(client)

        yield enter


@pytest.fixture
async def admin(as_role: AsRole) -> httpx.AsyncClient:
    return await as_role(Role.ADMIN)


@pytest.fixture
async def anybody(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(app) as client:
        yield client


def problem(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The problem an answer is; it must be one, with this status and code."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = answer.json()
    assert body["status"] == status
    assert body["code"] == code, body
    assert body["request_id"] == answer.headers["x-request-id"]
    assert "Traceback" not in answer.text
    return body
