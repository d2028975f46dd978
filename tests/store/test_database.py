"""Sessions: their time-outs, transactions, the count of round trips, and errors by kind."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import asyncpg
import pytest

import messor
from messor.errors import UnavailableError, UsageError
from messor.settings import Settings
from messor.store.database import LOST_CONNECTION, SESSION, TRY_AGAIN, Database, sparse
from messor.store.session import open_session
from tests.template_server import with_database


@pytest.mark.parametrize(
    "setting, value",
    [
        ("statement_timeout", "30s"),
        ("lock_timeout", "5s"),
        ("idle_in_transaction_session_timeout", "10s"),
        ("application_name", "messor"),
        ("TimeZone", "UTC"),
        ("synchronous_commit", "on"),
    ],
)
async def test_every_session_has_its_bounds(database: Database, setting: str, value: str) -> None:
    async with asyncio.TaskGroup() as group:
        shown = [group.create_task(database.fetchval(f"SHOW {setting}")) for _ in range(4)]
    assert {task.result() for task in shown} == {value}


async def test_a_statement_that_takes_too_long_may_be_tried_again(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SESSION, "statement_timeout", "1000")
    async with Database(dsn) as database:
        with pytest.raises(TRY_AGAIN):
            await database.fetch("SELECT pg_sleep(60)")
        assert await database.fetchval("SELECT 1") == 1


async def test_a_lock_that_does_not_come_may_be_tried_again(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SESSION, "lock_timeout", "50")
    async with Database(dsn) as database, database.transaction() as holder:
        await holder.execute("LOCK messor.domains")
        with pytest.raises(TRY_AGAIN):
            await database.fetch("SELECT count(*) FROM messor.domains")


async def test_a_transaction_that_fails_leaves_nothing(database: Database) -> None:
    with pytest.raises(asyncpg.DivisionByZeroError):  # noqa: PT012 - the transaction is the point
        async with database.transaction() as connection:
            await connection.execute(
                "INSERT INTO messor.segments (name, worker_id) VALUES ('torn', 1)"
            )
            await connection.execute("SELECT 1/0")
    assert await database.fetchval("SELECT count(*) FROM messor.segments") == 0


async def test_a_released_connection_costs_no_round_trip(dsn: str) -> None:
    async with Database(dsn, pool_size=1) as database, Database(dsn) as other:
        pid = await database.fetchval("SELECT pg_backend_pid()")
        last = await other.fetchval("SELECT query FROM pg_stat_activity WHERE pid = $1", pid)
        assert last == "SELECT pg_backend_pid()"


async def test_nothing_is_left_behind_for_the_next_user_of_a_connection(dsn: str) -> None:
    async with Database(dsn, pool_size=1) as database:
        assert database._pool is not None
        connection = await database._pool.acquire()
        await connection.execute("BEGIN")
        await connection.execute("SET LOCAL statement_timeout = '1s'")
        await database._pool.release(connection)
        assert await database.fetchval("SHOW statement_timeout") == "30s"
        assert not await database.fetchval("SELECT pg_current_xact_id_if_assigned() IS NOT NULL")


LASTING = re.compile(
    r"""["'](?:RE)?SET (?!LOCAL|TRANSACTION|NULL|DEFAULT)[a-z]|set_config\([^)]*false\)"""
    r"|pg_(?:try_)?advisory_lock\b|CREATE TEMP|WITH HOLD"
)


def test_no_statement_outlives_its_transaction() -> None:
    """What connections are lent for must not depend on who had them before."""
    rooms = Path(messor.__file__).parent
    other = {
        "analytics",
        "exports",
        "migrations",
        "autogenerate.py",
    }  # with connections of their own
    found = [
        f"{path.relative_to(rooms)}: {match.group()}"
        for path in [*rooms.rglob("*.py"), *rooms.rglob("*.sql")]
        if not other & set(path.relative_to(rooms).parts)
        for match in LASTING.finditer(path.read_text("utf-8"))
    ]
    assert not found


async def test_round_trips_are_counted(database: Database) -> None:
    before = database.round_trips
    async with database.transaction() as connection:
        await connection.execute("SELECT 1")
        await connection.fetchrow("SELECT 1")
    assert database.round_trips - before == 4  # begin, two statements, commit


async def test_a_killed_connection_is_replaced(database: Database) -> None:
    with pytest.raises(LOST_CONNECTION):
        await database.fetch("SELECT pg_terminate_backend(pg_backend_pid())")
    assert await database.fetchval("SELECT 1") == 1


async def test_a_wrong_password_is_one_sentence(server_dsn: str) -> None:
    wrong = f"postgresql://nobody:wrong@{server_dsn.rpartition('@')[2]}"
    with pytest.raises(UnavailableError, match="refuses the login"):
        await Database(wrong).open()


async def test_a_database_that_is_not_there_is_one_sentence(server_dsn: str) -> None:
    with pytest.raises(UnavailableError, match="no_such_database"):
        await Database(with_database(server_dsn, "no_such_database")).open()


async def test_a_dsn_that_means_nothing_is_said_at_once() -> None:
    with pytest.raises(UsageError, match="MESSOR_DATABASE_URL"):
        await Database("mysql://127.0.0.1/messor").open()


async def test_a_given_server_is_checked_and_not_migrated(server_dsn: str) -> None:
    with pytest.raises(UnavailableError, match="messor db upgrade"):
        async with open_session(Settings(database_url=server_dsn)):
            pass


async def test_a_session_on_a_given_server_is_ready(dsn: str) -> None:
    async with open_session(Settings(database_url=dsn), pool_size=1) as session:
        assert await session.database.fetchval("SELECT count(*) FROM messor.domains") == 0
        await session.repair()


@pytest.mark.parametrize("column", [[None, None, None], [None, "b", None], ["a", None, None], []])
async def test_a_column_of_nothing_comes_out_as_it_went_in(
    database: Database, column: list[str | None]
) -> None:
    rows = await database.fetch(
        "SELECT * FROM unnest($1::int[], $2::text[]) AS g (n, word)", [1, 2, 3], sparse(column)
    )
    assert [row["word"] for row in rows] == (column or [None] * 3)
