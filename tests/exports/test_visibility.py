"""Weekly visibility as exported equals what the interfaces reckon for the same week."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from messor.exports import requests
from messor.exports.requests import NewExport
from messor.exports.run import Folders, run
from messor.insight import visibility
from messor.insight.visibility import TimeSpan
from messor.store.database import Database
from tests.held_lanes import make_domain
from tests.insight.making import apply_vertical, make_keyword, make_serp, own

DAY = timedelta(days=1)
MONDAY = datetime(2026, 6, 1, tzinfo=UTC)


async def exported(database: Database, folder: Path, **wanted: Any) -> tuple[str, list[Any]]:
    async with database.transaction() as connection:
        made = await requests.begin(
            connection,
            NewExport("visibility", "jsonl", wanted.pop("filters", {}), **wanted),
            actor="test",
        )
    done = await run(database, Folders(folder, folder), made.id)
    content = requests.file_of(folder, done).read_bytes()
    return str(made.id), [msgspec.json.decode(line) for line in content.splitlines()]


async def test_it_is_what_the_interfaces_reckon(database: Database, tmp_path: Path) -> None:
    applied = await apply_vertical(database)
    dice = random.Random(3)
    domains = [f"d{n}.test" for n in range(6)]
    key = await make_domain(database, "d5.test")
    await database.fetch("UPDATE messor.domains SET domain_class = 'directory' WHERE id = $1", key)
    await own(database, applied, "Two", "d0.test", "d1.test")
    for number in range(6):
        keyword = await make_keyword(database, applied, f"k{number}", "ABC"[number % 3])
        for day in dice.sample(range(14), number):
            results = [(n + 1, "organic", name) for n, name in enumerate(dice.sample(domains, 4))]
            await make_serp(database, keyword, MONDAY + day * DAY, results)
        await make_serp(database, keyword, MONDAY + 6 * DAY + DAY / 2, [], outcome="failed")
    first, rows = await exported(database, tmp_path)
    for start in (MONDAY, MONDAY + 7 * DAY):
        expected = await visibility.of_domains(database, applied, TimeSpan(start, start + 7 * DAY))
        found = {one["domain"]: one for one in rows if datetime.fromisoformat(one["week"]) == start}
        assert expected
        assert {name: one["visibility"] for name, one in found.items()} == pytest.approx(
            {one.name: one.visibility for one in expected}, rel=1e-12
        )
        assert {name: one["share_of_voice"] for name, one in found.items()} == pytest.approx(
            {one.name: one.share_of_voice for one in expected}, rel=1e-12
        )
        assert {name: (one["best_rank"], one["pages"]) for name, one in found.items()} == {
            one.name: (one.best_rank, one.pages) for one in expected
        }
    assert {one["organisation"] for one in rows} == {"Two", None}
    await make_serp(database, keyword, MONDAY + 13 * DAY, [(1, "organic", "d2.test")])
    _, again = await exported(database, tmp_path, since=first)
    assert {datetime.fromisoformat(one["week"]) for one in again} == {MONDAY + 7 * DAY}
    _, one = await exported(database, tmp_path, filters={"domain": "d2.test"})
    assert {each["domain"] for each in one} == {"d2.test"}
