"""Members of a test's database, a door to it, and the same database at a later time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from datetime import timedelta

import msgspec
import pytest

from messor.access import members
from messor.access.login import LoginService
from messor.access.members import Member
from messor.access.origin import Origin
from messor.access.passwords import Passwords
from messor.access.principal import LOCAL_ADMIN, Principal
from messor.access.roles import Role, acts_of
from messor.store.database import Database
from tests import crawling

Later = Callable[[timedelta], Awaitable[Database]]
Joined = Callable[..., Awaitable[Member]]

PASSWORD = "correct horse battery"
HOME = Origin("192.0.2.1", "Firefox on a desk")
ELSEWHERE = Origin("203.0.113.9", "curl/8")


@pytest.fixture
def passwords() -> Iterator[Passwords]:
    """Real Argon2id at the least cost it has."""
    cheap = Passwords(memory_kib=8, passes=1)
    yield cheap
    cheap.close()


@pytest.fixture
def door(database: Database, passwords: Passwords) -> LoginService:
    return LoginService(database, passwords)


@pytest.fixture
async def later(dsn: str) -> AsyncIterator[Later]:
    """The same database, seen by sessions whose clock is ahead."""
    async with AsyncExitStack() as opened:

        async def ahead(by: timedelta) -> Database:
            return await opened.enter_async_context(Database(crawling.later(dsn, by), pool_size=2))

        yield ahead


@pytest.fixture
def joined(database: Database, passwords: Passwords) -> Joined:
    """Takes in a member, with a password unless told otherwise."""

    async def join(
        email: str = "ada@example.org",
        role: Role = Role.REVIEWER,
        name: str = "Ada L.",
        password: str | None = PASSWORD,
    ) -> Member:
        hashed = None
        if password is not None:
            hashed = await passwords.hash(password, email=email, name=name)
        async with database.transaction() as connection:
            return await members.create(
                connection, email=email, name=name, role=role, password=hashed, by=LOCAL_ADMIN
            )

    return join


def as_member(member: Member) -> Principal:
    """Somebody who is logged in, without the trouble of it."""
    return Principal(member.id, member.name, member.role, acts_of(member.role))


async def told(database: Database, *types: str) -> list[tuple[str, str, dict[str, object]]]:
    """Events as (type, actor, data), in the order they were written."""
    rows = await database.fetch("SELECT type, actor, data FROM messor.events ORDER BY id")
    return [
        (row["type"], row["actor"], msgspec.json.decode(row["data"]))
        for row in rows
        if not types or row["type"] in types
    ]


async def everything_stored(database: Database) -> str:
    """Every row that access writes, and every event, as text."""
    parts = []
    for table in (
        "members",
        "sessions",
        "one_time_links",
        "api_keys",
        "login_throttles",
        "rate_limits",
        "events",
    ):
        parts += [row[0] for row in await database.fetch(f"SELECT t::text FROM messor.{table} t")]
    return "\n".join(parts)
