"""Migrations on a real server: up, down, up again, many at once, and the clock they install."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from datetime import timedelta

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

from messor.errors import UnavailableError
from messor.store import migrate, revisions
from messor.store.database import Database
from tests.store.catalogue import FUNCTIONS, catalogue

UPGRADE = "import sys; from messor.store import migrate; migrate.upgrade(sys.argv[1])"


def test_the_newest_revision_is_the_one_that_alembic_ends_at() -> None:
    config = Config()
    config.set_main_option("script_location", str(revisions.MIGRATIONS))
    assert ScriptDirectory.from_config(config).get_heads() == [revisions.newest()]


def test_whoever_opens_a_database_does_not_wait_for_alembic() -> None:
    script = "import sys, messor.store.session; sys.exit('alembic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


async def test_up_down_up_leaves_the_same_schema(blank_dsn: str) -> None:
    await asyncio.to_thread(migrate.upgrade, blank_dsn)
    first = await catalogue(blank_dsn)
    await asyncio.to_thread(migrate.downgrade, blank_dsn, "base")
    assert await catalogue(blank_dsn) == set()
    await asyncio.to_thread(migrate.upgrade, blank_dsn)
    assert await catalogue(blank_dsn) == first


async def test_the_newest_file_of_each_function_is_in_force(dsn: str) -> None:
    newest: dict[str, str] = {}
    for path in sorted(revisions.MIGRATIONS.glob("functions/*.sql")):
        newest[path.name.partition(".")[0]] = path.read_text(encoding="utf-8")
    in_force = await catalogue(dsn, (FUNCTIONS,))
    names = {re.search(r"messor\.(\w+)\(", text)[1]: text for text in in_force}  # type: ignore[index]
    assert names.keys() == newest.keys()
    for name, text in newest.items():
        assert body(text) == body(names[name]), name


def body(function: str) -> str:
    """The text between the quoting dollars, of a file or of the server."""
    return re.split(r"\$\w*\$", function)[1]


async def test_revision_is_none_before_and_newest_after(blank_dsn: str) -> None:
    async with Database(blank_dsn) as database:
        assert await database.revision() is None
        await asyncio.to_thread(migrate.upgrade, blank_dsn)
        assert await database.revision() == revisions.newest()
        await database.require_schema()


async def test_a_database_without_the_schema_is_refused_with_what_to_do(blank_dsn: str) -> None:
    async with Database(blank_dsn) as database:
        with pytest.raises(UnavailableError, match=r"revision none.*Run: messor db upgrade"):
            await database.require_schema()


async def test_a_database_of_a_later_release_is_refused(database: Database) -> None:
    await database.fetch("UPDATE messor.alembic_version SET version_num = '999'")
    with pytest.raises(UnavailableError, match="revision 999"):
        await database.require_schema()


async def test_several_processes_upgrade_at_once(blank_dsn: str) -> None:
    command = [sys.executable, "-c", UPGRADE, blank_dsn]
    upgrades = [await asyncio.create_subprocess_exec(*command) for _ in range(2)]
    assert await asyncio.gather(*(upgrade.wait() for upgrade in upgrades)) == [0, 0]
    async with Database(blank_dsn) as database:
        assert await database.revision() == revisions.newest()


async def test_the_extension_is_there_exactly_where_the_server_has_it(database: Database) -> None:
    available = await database.fetchval(
        "SELECT count(*) FROM pg_available_extensions WHERE name = 'pgcrypto'"
    )
    made = await database.fetchval("SELECT count(*) FROM pg_extension WHERE extname = 'pgcrypto'")
    assert made == available


async def test_the_clock_moves_with_its_offset(database: Database) -> None:
    async with database.transaction() as connection:
        before = await connection.fetchval("SELECT messor.clock()")
        await connection.execute("SET LOCAL messor.clock_offset = '2 days'")
        after = await connection.fetchval("SELECT messor.clock()")
        assert timedelta(days=2) <= after - before < timedelta(days=2, minutes=1)
    assert await database.fetchval("SELECT messor.clock() - clock_timestamp()") < timedelta(1)


async def test_the_clock_runs_within_a_transaction(database: Database) -> None:
    async with database.transaction() as connection:
        early = await connection.fetchval("SELECT messor.clock()")
        assert await connection.fetchval("SELECT messor.clock()") > early


async def test_logs_have_partitions_for_now_and_the_months_ahead(database: Database) -> None:
    for log in (
        "http_fetches",
        "events",
        "decisions",
        "error_logs",
        "visits",
        "friction_log",
        "jobs_history",
        "schedule_runs",
    ):
        partitions = await database.fetchval(
            "SELECT count(*) FROM pg_inherits WHERE inhparent = ('messor.' || $1)::regclass", log
        )
        assert partitions == 6  # five months, and one for everything else
        await database.fetch("SELECT messor.make_partitions($1, 5)", log)  # again, and further
