"""Which classes of domains count for visibility is said by the vertical's file."""

from __future__ import annotations

from datetime import timedelta

import pytest

from messor.errors import UsageError
from messor.insight import visibility
from messor.insight.class_features import CLASSES
from messor.store.database import Database
from messor.verticals import files, verticals
from messor.verticals.model import DOMAIN_CLASSES
from messor.verticals.verticals import Applied
from tests.insight.making import make_keyword, make_serp

KINDS = {"clinic.test": "business", "ministry.test": "government", "list.test": "directory"}


async def apply(database: Database, classes: str) -> Applied:
    source = files.shipped("wellness").source
    line = next(line for line in source.splitlines() if line.startswith("counted_classes"))
    mine = source.replace(line, f"counted_classes = {classes}")
    async with database.transaction() as connection:
        file = files.understand(mine, "mine.toml")
        applied, _ = await verticals.apply(connection, file, actor="test")
    return applied


def test_a_file_names_classes_that_there_are() -> None:
    assert set(DOMAIN_CLASSES) == set(CLASSES)
    for name in files.SHIPPED:
        counted = files.shipped(name).vertical.counted_classes
        assert not {"directory", "marketplace", "aggregator", "social"} & set(counted)
    assert "government" not in files.shipped("wellness").vertical.counted_classes
    source = files.shipped("wellness").source.replace('["business", "unknown"]', '["clinics"]')
    with pytest.raises(UsageError, match=r"key counted_classes\[0\]"):
        files.understand(source, "mine.toml")


@pytest.mark.parametrize(
    "classes, seen",
    [
        ('["business", "unknown"]', {"clinic.test", "new.test"}),
        ('["business"]', {"clinic.test"}),
        ('["business", "government"]', {"clinic.test", "ministry.test"}),
    ],
)
async def test_the_file_decides_who_counts(
    database: Database, classes: str, seen: set[str]
) -> None:
    applied = await apply(database, classes)
    for domain, kind in KINDS.items():
        await database.fetch(
            "INSERT INTO messor.domain_classes (domain, class, confidence) VALUES ($1, $2, 0.9)",
            domain,
            kind,
        )
    keyword = await make_keyword(database, applied, "laser", "A")
    now = await database.fetchval("SELECT messor.clock()")
    places = [(n, "organic", name) for n, name in enumerate((*KINDS, "new.test"), 1)]
    await make_serp(database, keyword, now - timedelta(days=1), places)
    window = await visibility.last_window(database)
    found = await visibility.of_domains(database, applied, window)
    assert {one.name for one in found} == seen
    # Whoever does not count moves nobody up: the places stay what they are.
    assert {one.name: one.best_rank for one in found}.get("new.test", 4) == 4
