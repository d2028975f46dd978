"""Downgrades: a later migration goes up and down, and what it deletes is known before."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from messor.errors import UsageError
from messor.store import migrate, revisions
from messor.store.database import Database
from messor.store.losses import dropped, losses, revisions_below
from tests.crawling import admit
from tests.later_migration import LATER, NEWEST, add_later_migration
from tests.store.catalogue import COLUMNS, catalogue

HISTORY = revisions.history()


@pytest.fixture
def later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_later_migration(tmp_path, monkeypatch)


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("target", ["-1", NEWEST.partition("_")[0], NEWEST])
async def test_a_later_migration_is_undone_without_a_trace(dsn: str, target: str) -> None:
    before = await catalogue(dsn)
    await asyncio.to_thread(migrate.upgrade, dsn)
    after = await catalogue(dsn)
    assert {line.split()[1] for line in after - before if line.startswith("relation")} == {
        "snacks",
        "crumbs",
    }
    async with Database(dsn) as database:
        assert await database.revision() == LATER
        assert await database.fetchval("SELECT messor.risk_level(99)") == "later"
    await asyncio.to_thread(migrate.downgrade, dsn, target)
    assert await catalogue(dsn) == before
    async with Database(dsn) as database:
        assert await database.revision() == NEWEST
        assert await database.fetchval("SELECT messor.risk_level(99)") == "critical"
    await asyncio.to_thread(migrate.upgrade, dsn)
    assert await catalogue(dsn) == after


@pytest.mark.usefixtures("later")
async def test_what_each_step_takes_away_is_known_before(dsn: str) -> None:
    await asyncio.to_thread(migrate.upgrade, dsn)
    history = revisions.history()
    for revision, target in zip(history[:0:-1], history[-2::-1], strict=True):
        tables, columns, _ = dropped(revision)
        before = await columns_of(dsn)
        await asyncio.to_thread(migrate.downgrade, dsn, target)
        left = await columns_of(dsn)
        gone = {place: name for place, name in before.items() if place not in left}
        gone_tables = {table for table, _ in gone} - {table for table, _ in left}
        assert tables == gone_tables, revision
        lost = {(table, name) for (table, _), name in gone.items() if table not in gone_tables}
        assert columns == lost, revision


async def columns_of(dsn: str) -> dict[tuple[str, str], str]:
    """Names of columns by table and place: one that is renamed keeps its place."""
    found = {}
    for line in await catalogue(dsn, (COLUMNS,)):
        _, name, _, place, *_ = line.split()
        table, _, column = name.partition(".")
        found[table, place] = column
    return found


@pytest.mark.usefixtures("later")
async def test_losses_are_counted_step_by_step(database: Database, dsn: str) -> None:
    await asyncio.to_thread(migrate.upgrade, dsn)
    await admit(database, "https://shop.example/")
    await database.fetch("INSERT INTO messor.snacks (name) VALUES ('nut'), ('date')")
    async with database.connection() as connection:
        last = await losses(connection, revisions_below(LATER, "-1")[1])
        every = await losses(connection, revisions_below(LATER, "base")[1])
    assert {(loss.revision, loss.what, loss.rows) for loss in last} == {
        (LATER, "table snacks", 2),
        (LATER, "table crumbs", 0),
        (LATER, "column alarms.colour", 1),
        (LATER, "column alarms.loudness", 0),
        (LATER, "rows of alarms", 1),
    }
    found = {(loss.revision, loss.what): loss.rows for loss in every}
    assert found[HISTORY[0], "table domains"] == 1
    assert (LATER, "table snacks") in found
    assert (HISTORY[0], "table snacks") not in found


@pytest.mark.usefixtures("later")
def test_targets_are_named_in_several_ways() -> None:
    for target in ("-1", NEWEST.partition("_")[0], NEWEST):
        assert revisions_below(LATER, target) == (NEWEST, [LATER])
    for target in ("-99", f"-{len(HISTORY) + 1}", "base"):
        assert revisions_below(LATER, target) == ("base", [LATER, *HISTORY[::-1]])
    for wrong in ("901", "00", "nonsense", "head", "+1"):
        with pytest.raises(UsageError, match="cannot be downgraded"):
            revisions_below(LATER, wrong)
    with pytest.raises(UsageError, match="at revision 039, which this release does not know"):
        revisions_below("039", "-1")
