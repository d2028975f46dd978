"""Visibility: exact against a reckoning by hand, with gaps, other classes and several looks."""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from messor.errors import UsageError
from messor.insight import visibility
from messor.insight.visibility import TimeSpan
from messor.store.database import Database
from messor.verticals.verticals import Applied
from tests.held_lanes import make_domain
from tests.insight.making import apply_vertical, make_keyword, make_serp, own

DAY = timedelta(days=1)
UNTIL = datetime(2026, 6, 8, tzinfo=UTC)
WINDOW = TimeSpan(UNTIL - 7 * DAY, UNTIL)

Look = tuple[str, str, list[tuple[int, str, str]]]  # keyword, tier, results of a good first page


def brute(
    applied: Applied, looks: list[Look], owners: dict[str, str], excluded: set[str]
) -> dict[str, float]:
    """The formula, spelled out; by owner."""
    scoring = applied.vertical.scoring
    by_keyword: dict[tuple[str, str], list[list[tuple[int, str, str]]]] = defaultdict(list)
    for keyword, tier, results in looks:
        by_keyword[keyword, tier].append(results)
    weights = {"A": 3.0, "B": 2.0, "C": 1.0}
    assert dict(scoring.tier_weights) == weights
    greatest = sum(scoring.rank_weights[0] * weights[tier] for _, tier in by_keyword)
    points: dict[str, float] = defaultdict(float)
    for (_, tier), pages in by_keyword.items():
        for results in pages:
            best: dict[str, float] = {}
            for rank, block, domain in results:
                if block not in {"organic", "local_pack"} or domain in excluded:
                    continue
                owner = owners.get(domain)
                if owner is not None and rank <= len(scoring.rank_weights):
                    weight = scoring.rank_weights[rank - 1]
                    best[owner] = max(best.get(owner, 0.0), weight)
            for owner, weight in best.items():
                points[owner] += weight * weights[tier] / len(pages)
    return {owner: value / greatest for owner, value in points.items()}


async def test_it_is_exact(database: Database) -> None:
    applied = await apply_vertical(database)
    dice = random.Random(11)
    domains = [f"d{n}.test" for n in range(9)]
    for name, kind in (("d7.test", "directory"), ("d6.test", "business")):
        key = await make_domain(database, name)
        await database.fetch("UPDATE messor.domains SET domain_class = $2 WHERE id = $1", key, kind)
    await database.fetch(
        "INSERT INTO messor.domain_classes (domain, class, confidence) VALUES ('d8.test', 'social', 0.9)"
    )
    await own(database, applied, "Two", "d0.test", "d1.test")
    await own(database, applied, "One", "d2.test")
    looks: list[Look] = []
    for number in range(12):
        tier = "ABC"[number % 3]
        keyword = await make_keyword(database, applied, f"k{number}", tier)
        for look in range(number % 4):  # some never seen
            results = _page(dice, domains)
            at = UNTIL - DAY * (look + 0.5)
            await make_serp(database, keyword, at, results, outcome="partial" if look else "ok")
            looks.append((f"k{number}", tier, results))
        # None of these counts: a gap, another window, a second page.
        await make_serp(database, keyword, UNTIL - 5 * DAY, [], outcome="failed")
        await make_serp(database, keyword, UNTIL, _page(dice, domains))
        await make_serp(database, keyword, UNTIL - 6 * DAY, _page(dice, domains), page=2)
    excluded = {"d7.test", "d8.test"}
    expected = brute(applied, looks, {name: name for name in domains}, excluded)
    found = await visibility.of_domains(database, applied, WINDOW)
    assert {one.name: one.visibility for one in found} == pytest.approx(expected, rel=1e-12)
    assert sum(one.share_of_voice for one in found) == pytest.approx(1)
    assert [one.visibility for one in found] == sorted((o.visibility for o in found), reverse=True)
    owners = {"d0.test": "Two", "d1.test": "Two", "d2.test": "One"}
    by_owner = await visibility.of_organisations(database, applied, WINDOW)
    assert {one.name: one.visibility for one in by_owner} == pytest.approx(
        brute(applied, looks, owners, excluded), rel=1e-12
    )
    assert await visibility.keywords_measured(database, applied, WINDOW) == 9


async def test_the_first_place_everywhere_is_one_and_a_gap_takes_nothing(
    database: Database,
) -> None:
    applied = await apply_vertical(database)
    first = await make_keyword(database, applied, "first", "A")
    gap = await make_keyword(database, applied, "gap", "A")
    both = [(1, "organic", "a.test"), (1, "local_pack", "a.test"), (2, "organic", "b.test")]
    await make_serp(database, first, UNTIL - DAY, both)
    await make_serp(database, gap, UNTIL - DAY, [], outcome="failed")
    a, b = await visibility.of_domains(database, applied, WINDOW)
    assert (a.name, a.visibility, a.pages, a.best_rank) == ("a.test", 1.0, 1, 1)
    assert b.name == "b.test"
    assert b.visibility == pytest.approx(0.62)
    assert a.share_of_voice == pytest.approx(1 / 1.62)
    assert await visibility.of_domains(database, applied, WINDOW.before) == []


async def test_movers_are_measured_on_what_both_windows_saw(database: Database) -> None:
    applied = await apply_vertical(database)
    steady, new = [await make_keyword(database, applied, text, "B") for text in ("steady", "new")]
    before, now = UNTIL - 9 * DAY, UNTIL - 2 * DAY
    await make_serp(database, steady, before, [(1, "organic", "a.test"), (2, "organic", "b.test")])
    await make_serp(database, steady, now, [(1, "organic", "b.test"), (2, "organic", "a.test")])
    await make_serp(database, new, now, [(1, "organic", "c.test")])
    found = {one.domain: one.change for one in await visibility.movers(database, applied, WINDOW)}
    assert found == {"a.test": pytest.approx(-0.38), "b.test": pytest.approx(0.38)}


async def test_competitors_meet_on_the_same_pages(database: Database) -> None:
    applied = await apply_vertical(database)
    key: UUID = await make_keyword(database, applied, "one", "C")
    other = await make_keyword(database, applied, "two", "C")
    page = [(1, "organic", "rival.test"), (2, "organic", "us.test"), (3, "organic", "late.test")]
    await make_serp(database, key, UNTIL - DAY, page)
    await make_serp(database, other, UNTIL - DAY, [(1, "organic", "elsewhere.test")])
    found = await visibility.competitors(database, applied, WINDOW, ["us.test"])
    assert [(c.domain, c.keywords, c.above, c.meetings) for c in found] == [
        ("rival.test", 1, 1, 1),
        ("late.test", 1, 0, 1),
    ]
    assert found[0].visibility == pytest.approx(0.5)


def test_a_window_ends_after_it_begins() -> None:
    with pytest.raises(UsageError, match="must end after it begins"):
        TimeSpan(UNTIL, UNTIL)


def _page(dice: random.Random, domains: list[str]) -> list[tuple[int, str, str]]:
    """Results in three blocks, a domain more than once, some beyond the weighted ranks."""
    return [
        (rank, block, dice.choice(domains))
        for block, count in (("organic", 12), ("local_pack", 3), ("ad", 3))
        for rank in range(1, count + 1)
    ]
