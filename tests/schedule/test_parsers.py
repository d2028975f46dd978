"""A parser that loses what it found is told of once a day, until it finds it again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from messor.extraction.parser_failures import failures
from messor.extraction.reader_protocol import ReadResult
from messor.parsers.health import health
from messor.schedule.orchestrators import RunPosition
from messor.schedule.parsers import step
from tests.extraction.test_extract import Bench, opened_bench, product
from tests.little_web import page


async def look(bench: Bench) -> int:
    async with bench.opened() as database, database.transaction() as connection:
        return (await step(connection, RunPosition())).counts["parsers_failing"]


async def test_a_parser_that_loses_its_records_is_told_of_once_a_day(
    tmp_path: Path, dsn: str
) -> None:
    rooms = {f"item{n}": product(f"{n}.50", name=f"Kettle {n}") for n in range(1, 7)}
    async with opened_bench(tmp_path, dsn, **rooms) as bench:
        await bench.crawl()
        await bench.extract()
        assert await look(bench) == 0
        for name in rooms:
            bench.set(f"/{name}", page(f"A page of another make, {name}"))
        await bench.crawl()
        await bench.extract()
        lost = await look(bench)
        assert lost > 0
        assert await look(bench) == 0
        said = await bench.events("parser.failing")
        assert len(said) == lost
        (about,) = [one for one in said if one["kind"] == "product"]
        assert (about["lost"], about["held"]) == (6, 0)
        assert "lost 6 of 6 product records" in about["what"]
        bench.hours += int(timedelta(days=2) / timedelta(hours=1))
        assert await look(bench) == 0  # what was lost two days ago is no news


async def test_a_field_that_goes_on_many_pages_is_told_of(tmp_path: Path, dsn: str) -> None:
    rooms = {f"item{n}": product(f"{n}.50", name=f"Kettle {n}") for n in range(1, 7)}
    async with opened_bench(tmp_path, dsn, **rooms) as bench:
        await bench.crawl()
        await bench.extract()
        for number, name in enumerate(rooms, 1):
            bench.set(f"/{name}", product("", name=f"Kettle {number}"))
        await bench.crawl()
        assert (await bench.extract()).removed == 0
        assert await look(bench) == 1
        (said,) = await bench.events("parser.failing")
        assert (said["kind"], said["lost"], said["held"]) == ("product.price", 6, 0)
        assert "products lost 6 of 6 product.price values in a day" in said["what"]
        for number, name in enumerate(rooms, 1):
            bench.set(f"/{name}", product(f"{number}.80", name=f"Kettle {number}"))
        await bench.crawl()
        await bench.extract()
        async with bench.opened() as database:
            assert "product.price" not in {one.kind for one in await health(database)}


def _fail(ask: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Readers in whose processes a parser of another package fails, and ours answer in its place."""

    async def failing(answer: asyncio.Future[ReadResult]) -> ReadResult:
        page = (await answer).page
        assert page is not None
        said = '["theirs 1: could not be read", "other 1: could be"]'
        return ReadResult(page=msgspec.structs.replace(page, failed=["theirs"], warnings_json=said))

    return lambda orders: [asyncio.ensure_future(failing(answer)) for answer in ask(orders)]


async def test_a_parser_that_fails_is_told_of_though_nothing_is_lost(
    tmp_path: Path, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rooms = {f"item{n}": product(f"{n}.50", name=f"Kettle {n}") for n in range(1, 7)}
    async with opened_bench(tmp_path, dsn, **rooms) as bench:
        await bench.crawl()
        await bench.extract()
        monkeypatch.setattr(bench.readers, "ask", _fail(bench.readers.ask))
        for number, name in enumerate(rooms):
            bench.set(f"/{name}", product(f"{number}.75", name=f"Kettle {name}"))
        await bench.crawl()
        assert (await bench.extract()).removed == 0
        assert await look(bench) == 1
        assert await look(bench) == 0
        (said,) = await bench.events("parser.failing")
        assert (said["parser"], said["failed"], said["pages"]) == ("theirs", 6, 6)
        assert said["what"] == "theirs failed on 6 of 6 pages read in a day."
        async with bench.opened() as database:
            assert [one.message for one in await failures(database)] == [
                "theirs failed on 6 of 6 pages read"
            ]
        (one, *_) = await bench.rows("SELECT error_message, detail FROM messor.error_logs")
        assert one["error_message"] == "theirs 1: could not be read"
