"""Commit positions after a move: old cursors, webhooks and increments go on, nothing is passed over."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from messor.errors import CursorExpiredError
from messor.exports import requests
from messor.exports.requests import NewExport
from messor.exports.run import Folders, run
from messor.feed.queries import ChangeFilter, read_feed
from messor.ledger.events import Event, record
from messor.ledger.queries import EVENTS, EventFilter
from messor.store import migrate
from messor.store.database import FOLLOW_ANYHOW, Database
from messor.store.embedded.programs import installed_programs
from messor.store.server import EmbeddedServer
from tests.crawling import later
from tests.exports.seeding import seed
from tests.template_server import run_sql, waive_upkeep, with_database, with_password

ALL = EventFilter(with_audit=True)
POSITION = "SELECT messor.commit_position()::text::bigint"
HORIZON = "SELECT messor.commit_horizon()::text::bigint"


@pytest.fixture(scope="module")
def elsewhere(server_folder: Path) -> Iterator[str]:
    """Another cluster, whose transactions are counted from the beginning."""
    server = EmbeddedServer(server_folder / "elsewhere")
    dsn = with_password(server.acquire())
    waive_upkeep(server)
    yield dsn
    server.release()


def programs_run(name: str, *arguments: str, given: bytes = b"") -> bytes:
    command = [installed_programs()[0].path(name), *arguments]
    return subprocess.run(command, check=True, input=given, capture_output=True).stdout


async def move(dsn: str, elsewhere: str, name: str) -> str:
    """Dump a database and restore it in the other cluster."""
    await run_sql(elsewhere, f"DROP DATABASE IF EXISTS {name}")
    await run_sql(elsewhere, f"CREATE DATABASE {name}")
    to = with_database(elsewhere, name)
    dumped = await asyncio.to_thread(programs_run, "pg_dump", "--no-owner", dsn)
    arguments = ("psql", "-q", "-v", "ON_ERROR_STOP=1", to)
    await asyncio.to_thread(programs_run, *arguments, given=dumped)
    return to


async def happen(database: Database, name: str) -> None:
    async with database.transaction() as connection:
        await record(connection, [Event("domain.submitted", name)])


async def ahead(dsn: str) -> None:
    """Use up transaction numbers: the other cluster is far behind."""
    await run_sql(
        dsn,
        "DO $$ BEGIN FOR i IN 1..5000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$",
    )


async def test_an_old_cursor_goes_on_in_another_cluster(
    database: Database, dsn: str, elsewhere: str
) -> None:
    await ahead(dsn)
    await happen(database, "before")
    before = await EVENTS.select(database, ALL, "committed", None, 10)
    at = before[0][-1].position
    last = int(await database.fetchval(POSITION))
    async with Database(await move(dsn, elsewhere, "moved_a")) as there:
        raw = int(await there.fetchval("SELECT pg_current_xact_id()::text::bigint"))
        assert raw < last, "the other cluster must count from less, or this shows nothing"
        await happen(there, "after")
        found, _ = await EVENTS.select(there, ALL, "committed", at, 10)
        assert [one.actor for one in found] == ["after"]
        whole, _ = await EVENTS.select(there, ALL, "committed", None, 10)
        assert [one.actor for one in whole][-2:] == ["before", "after"]
        assert int(await there.fetchval(POSITION)) < 2**63


async def test_two_restores_of_one_backup_give_out_different_positions(
    database: Database, dsn: str, elsewhere: str
) -> None:
    await happen(database, "before")
    async with Database(await move(dsn, elsewhere, "moved_b")) as there:
        first = int(await there.fetchval(POSITION))
    to = later(await move(dsn, elsewhere, "moved_b"), timedelta(seconds=10))
    async with Database(to) as there:
        assert int(await there.fetchval(HORIZON)) > first


async def test_in_the_same_cluster_nothing_is_shifted(database: Database, dsn: str) -> None:
    shift = "SELECT messor.commit_shift()"
    assert await database.fetchval(shift) == 0
    async with Database(dsn) as again:
        assert await again.fetchval(shift) == 0


async def test_connections_that_come_at_once_shift_once(
    database: Database, dsn: str, elsewhere: str
) -> None:
    to = await move(dsn, elsewhere, "moved_c")
    opened = [Database(to) for _ in range(6)]
    await asyncio.gather(*(one.open() for one in opened))
    positions = sorted([int(await one.fetchval(POSITION)) >> 32 for one in opened])
    assert positions[0] == positions[-1] > 0
    await asyncio.gather(*(one.close() for one in opened))


async def test_a_writer_that_began_before_the_shift_is_not_passed_over(
    database: Database, dsn: str
) -> None:
    """A forced shift waits for it, so that no reader sees what comes after and then misses it."""
    async with Database(dsn) as other:
        async with database.transaction() as connection:
            await record(connection, [Event("domain.submitted", "slow")])
            shifting = asyncio.create_task(other.fetch(FOLLOW_ANYHOW))
            await asyncio.sleep(0.3)
            assert not shifting.done()
        await shifting
        await happen(other, "later")
        found, _ = await EVENTS.select(other, ALL, "committed", None, 10)
        assert [one.actor for one in found] == ["slow", "later"]


async def test_the_feed_goes_on_and_a_cursor_of_a_lost_future_is_refused(
    database: Database, dsn: str, elsewhere: str
) -> None:
    await happen(database, "seen")
    await seed(database, pages=2)
    kept = (await read_feed(database, ChangeFilter())).cursor
    to = await move(dsn, elsewhere, "moved_d")
    await seed_more(database)
    lost = (await read_feed(database, ChangeFilter())).cursor
    async with Database(to) as there:
        assert (await read_feed(there, ChangeFilter(), cursor=kept)).items == []
        await seed_more(there)
        assert len((await read_feed(there, ChangeFilter(), cursor=kept)).items) == 1
        with pytest.raises(CursorExpiredError):
            await read_feed(there, ChangeFilter(), cursor=lost)


async def seed_more(database: Database) -> None:
    await database.fetch(
        "INSERT INTO messor.changes (kind, state, topic, subject_uuid, occurred_at)"
        " VALUES ('organisation', 'erased', NULL, gen_random_uuid(), messor.clock())"
    )


async def test_an_increment_after_a_move_misses_nothing(
    database: Database, dsn: str, elsewhere: str, tmp_path: Path
) -> None:
    await seed(database, pages=20)
    async with database.transaction() as connection:
        made = await requests.begin(connection, NewExport("products", "jsonl", {}), actor="test")
    await run(database, Folders(tmp_path, tmp_path), made.id)
    await ahead(dsn)
    await database.fetch("UPDATE messor.products SET price = 1 WHERE id IN (3, 5)")
    async with Database(await move(dsn, elsewhere, "moved_e")) as there:
        await ahead(elsewhere)
        wanted = NewExport("products", "jsonl", {}, since=str(made.id))
        async with there.transaction() as connection:
            part = await requests.begin(connection, wanted, actor="test")
        done = await run(there, Folders(tmp_path, tmp_path), part.id)
        assert done.rows == 20  # all rows are new here: rather twice than never


async def test_a_dump_of_an_earlier_release_goes_on_as_well(
    database: Database, dsn: str, elsewhere: str
) -> None:
    await ahead(dsn)
    await happen(database, "before")
    await asyncio.to_thread(migrate.downgrade, dsn, "020_search_outbox")
    to = await move(dsn, elsewhere, "moved_f")
    await asyncio.to_thread(migrate.upgrade, to)
    async with Database(to) as there:
        await happen(there, "after")
        found, _ = await EVENTS.select(there, ALL, "committed", None, 10)
        assert [one.actor for one in found] == ["before", "after"]
