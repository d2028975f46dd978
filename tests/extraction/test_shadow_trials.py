"""Candidates that shadow: they read what comes in, count for themselves alone, and change nothing."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest

from messor.errors import ConflictError, NotFoundError
from messor.extraction import queue, shadow_trials, trial_queries
from messor.extraction.compare import MOST_DOMAINS, OTHERS, ComparisonReport
from messor.parsers import pins, trials
from messor.parsers.page_reading import installed_parsers
from messor.parsers.registry import UnknownParserError
from tests.candidates import pack_candidates
from tests.extraction.test_compare import found, stored
from tests.extraction.test_extract import SHOP, Bench, opened_bench, product

STORED = "SELECT kind, identity, data, parser, parser_version FROM messor.records ORDER BY 1, 2"


@pytest.fixture
def candidates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Versions that this process and its readers find installed."""
    path = pack_candidates(tmp_path / "packages")
    monkeypatch.setenv("PYTHONPATH", path)
    monkeypatch.syspath_prepend(str(tmp_path / "packages"))
    installed_parsers.cache_clear()
    yield
    installed_parsers.cache_clear()
    sys.modules.pop("forgetful", None)


@pytest.fixture
async def shop(tmp_path: Path, dsn: str, candidates: None) -> AsyncIterator[Bench]:
    async with opened_bench(tmp_path, dsn, kettle=product()) as bench:
        yield bench


async def begin(
    shop: Bench, version: str = "1rc1", *, most: int = 100, domain: bool = False
) -> UUID:
    async with shop.opened() as database, database.transaction() as connection:
        domain_id = await connection.fetchval("SELECT id FROM messor.domains") if domain else None
        return await shadow_trials.begin(
            connection, "forgetful", version, domain_id=domain_id, most=most, actor="tester"
        )


async def told(shop: Bench, trial_id: UUID) -> dict[str, Any]:
    async with shop.opened() as database:
        return asdict(await trial_queries.get(database, trial_id))


async def decide(shop: Bench, trial_id: UUID, state: str) -> str:
    async with shop.opened() as database, database.transaction() as connection:
        return await trials.decide(connection, trial_id, state, actor="tester", reason="seen")


@pytest.mark.parametrize("domain", [False, True])
async def test_a_shadow_is_compared_on_what_comes_in_and_changes_nothing(
    shop: Bench, domain: bool
) -> None:
    trial_id = await begin(shop, domain=domain)
    await shop.crawl()
    tally = await shop.extract()
    assert (tally.pages, tally.put_off, tally.set_aside) == (2, 0, 0)
    trial = await told(shop, trial_id)
    assert (trial["state"], trial["pages"], trial["most"]) == ("shadowing", 2, 100)
    report = trial["report"]
    assert (report["read"], report["fields"]["product.price"]["lost"]) == (1, 1)
    assert report["fields"]["product.sku"]["same"] == 1
    assert report["domains"][SHOP]["pages"] == 2
    assert {row["parser"] for row in await shop.rows(STORED)}.isdisjoint({"forgetful"})
    await shop.crawl()  # nothing changed, so nothing is read
    await shop.extract()
    assert (await told(shop, trial_id))["pages"] == 2
    shop.set("/kettle", product("25.00"))
    await shop.crawl()
    await shop.extract()
    trial = await told(shop, trial_id)
    assert (trial["pages"], trial["report"]["fields"]["product.price"]["lost"]) == (3, 2)
    (price,) = await shop.rows("SELECT price FROM messor.products")
    assert float(price["price"]) == 25.0


async def test_a_replay_is_nothing_that_comes_in(shop: Bench) -> None:
    await shop.crawl()
    await shop.extract()
    trial_id = await begin(shop)
    async with shop.opened() as database:
        assert await queue.replay(database) == 2
    assert (await shop.extract()).pages == 2
    assert (await told(shop, trial_id))["pages"] == 0


async def test_a_shadow_that_has_seen_enough_is_compared_and_reads_no_more(shop: Bench) -> None:
    trial_id = await begin(shop, most=1)
    await shop.crawl()
    await shop.extract()
    trial = await told(shop, trial_id)
    assert (trial["state"], trial["pages"]) == ("compared", 1)  # though two were read
    (event,) = await shop.events("parser.compared")
    assert event["trial_id"] == str(trial_id)
    shop.set("/kettle", product("25.00"))
    await shop.crawl()
    await shop.extract()
    assert (await told(shop, trial_id))["pages"] == 1
    assert await decide(shop, trial_id, "promoted") == "forgetful 1rc1"
    async with shop.opened() as database:
        assert [pin.version for pin in await pins.listing(database)] == ["1rc1"]


@pytest.mark.parametrize("version, failed, unreadable", [("2rc1", 2, 0), ("3rc1", 0, 2)])
async def test_a_candidate_that_fails_or_dies_costs_itself_alone(
    shop: Bench, version: str, failed: int, unreadable: int
) -> None:
    trial_id = await begin(shop, version)
    await shop.crawl()
    tally = await shop.extract()
    assert (tally.pages, tally.put_off, tally.set_aside) == (2, 0, 0)
    report = (await told(shop, trial_id))["report"]
    assert (report["pages"], report["failed"], report["unreadable"]) == (0, failed, unreadable)
    assert len(await shop.rows("SELECT * FROM messor.products")) == 1
    assert await shop.rows("SELECT * FROM messor.error_logs") == []
    with pytest.raises(ConflictError, match="compared no page yet"):
        await decide(shop, trial_id, "promoted")
    assert await decide(shop, trial_id, "rejected") == f"forgetful {version}"


async def test_a_batch_that_is_not_stored_counts_for_nothing(
    shop: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial_id = await begin(shop)
    await shop.crawl()
    count = trials.count

    async def break_off(*args: Any) -> None:
        await count(*args)
        raise asyncio.CancelledError

    monkeypatch.setattr(trials, "count", break_off)
    with pytest.raises(asyncio.CancelledError):
        await shop.extract()
    monkeypatch.undo()
    assert (await told(shop, trial_id))["pages"] == 0
    assert await shop.rows(STORED) == []


async def test_one_that_was_decided_on_meanwhile_is_left_alone(
    shop: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial_id = await begin(shop)
    await shop.crawl()
    lock = trials.lock_shadow

    async def decided(connection: Any, one: UUID) -> tuple[dict[str, Any], int] | None:
        await decide(shop, one, "rejected")
        return await lock(connection, one)

    monkeypatch.setattr(trials, "lock_shadow", decided)
    assert (await shop.extract()).pages == 2
    trial = await told(shop, trial_id)
    assert (trial["state"], trial["pages"]) == ("rejected", 0)


async def test_shadows_are_few_and_each_is_one(shop: Bench) -> None:
    await begin(shop)
    await begin(shop, domain=True)
    with pytest.raises(ConflictError, match="is already running there"):
        await begin(shop)
    with pytest.raises(UnknownParserError):
        await begin(shop, "9")
    await begin(shop, "2rc1")
    await begin(shop, "3rc1")
    await begin(shop, "2rc1", domain=True)
    with pytest.raises(ConflictError, match="5 shadow trials are running"):
        await begin(shop, "3rc1", domain=True)
    with pytest.raises(NotFoundError):
        await decide(shop, UUID(int=1), "rejected")


async def test_a_version_that_is_not_installed_here_is_left_to_others(shop: Bench) -> None:
    trial_id = await begin(shop)
    async with shop.opened() as database:
        await database.fetch("UPDATE messor.parser_trials SET version = '9'")
    await shop.crawl()
    assert (await shop.extract()).pages == 2
    assert (await told(shop, trial_id))["pages"] == 0


def test_a_report_that_is_kept_goes_on_where_it_was() -> None:
    candidate = ("products", "2rc1")
    once, kept = ComparisonReport(candidate), ComparisonReport(candidate).as_json()
    for number in range(6):
        page = stored(f"d{number % 2}.example", {"price": 5, "brand": "Alba"}, rejected=("sku",))
        made = found({"price": 5 + number % 3, "gtin": "2"}, rejected=("brand",))
        once.add(page, made, None)
        report = ComparisonReport.of_json(msgspec.json.decode(msgspec.json.encode(kept)), candidate)
        report.add(page, made, None)
        kept = report.as_json()
    assert kept == once.as_json()


def test_a_report_that_is_kept_tells_further_domains_in_one() -> None:
    kept = ComparisonReport(("products", "2rc1")).as_json()
    for number in range(MOST_DOMAINS + 50):
        report = ComparisonReport.of_json(kept, ("products", "2rc1"))
        report.add(stored(f"d{number}.example", {"price": 5}), found({"price": 5}), None)
        kept = report.as_json()
    assert (len(kept["domains"]), kept["more_domains"]) == (MOST_DOMAINS, 0)
    assert kept["domains"][OTHERS]["pages"] == 51
    assert sum(each["pages"] for each in kept["domains"].values()) == kept["pages"]
