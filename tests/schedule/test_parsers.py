"""A parser that loses what it found is told of once a day, until it finds it again."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from messor.schedule.orchestrators import Place
from messor.schedule.parsers import step
from tests.engine.test_extracting import Bench, opened_bench, product
from tests.little_web import page


async def look(bench: Bench) -> int:
    async with bench.opened() as database, database.transaction() as connection:
        return (await step(connection, Place())).counts["parsers_failing"]


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
