"""Pages that fit a filter, stretch by stretch: none is missed, none is told twice."""

from __future__ import annotations

from io import BytesIO
from uuid import UUID

import pytest

from messor.frontier import page_queries, page_stretches, queries, task_stretches
from messor.frontier.batches import BatchSubmitter, lines_of
from messor.frontier.page_stretches import PageFilter
from messor.registry.domains import Domain
from messor.store.database import Database
from tests.console import seeding
from tests.crawling import admit


async def _found(database: Database, wanted: PageFilter, **how: object) -> list[str]:
    found: list[str] = []
    after: int | None = 0
    while after is not None:
        part = await page_stretches.read(database, wanted, after=after, **how)  # type: ignore[arg-type]
        found += [page.url for page in part.pages]
        after = part.reached
    return found


async def _sites(database: Database) -> list[Domain]:
    made = [await admit(database, "one.example"), await admit(database, "two.example")]
    for number in range(9):
        for domain in made:
            outcome = "blocked" if number % 4 == 0 else "ok"
            url = f"https://{domain.domain}/{number}"
            await seeding.add_page(database, domain, url, outcome=outcome)
    return made


@pytest.mark.parametrize("limit, stretch", [(50, 1_000), (2, 1_000), (50, 3), (1, 1), (2, None)])
@pytest.mark.parametrize("domain", ["one.example", None])
async def test_filters_find_all(
    database: Database, domain: str | None, limit: int, stretch: int | None
) -> None:
    await _sites(database)
    hosts = ["one.example"] if domain else ["one.example", "two.example"]
    how = {"domain": domain, "limit": limit, "stretch": stretch}
    blocked = await _found(database, PageFilter(outcome="blocked"), **how)
    assert blocked == [f"https://{host}/{number}" for number in (0, 4, 8) for host in hosts]
    seven = await _found(database, PageFilter(containing="/7"), **how)
    assert seven == [f"https://{host}/7" for host in hosts]
    assert await _found(database, PageFilter(kind="render"), **how) == []
    every = await _found(database, PageFilter(), **how)
    assert len(every) == len(set(every))
    assert {f"https://{host}/{number}" for number in range(9) for host in hosts} <= set(every)


async def test_nothing_of_a_domain_that_is_not_there(database: Database) -> None:
    await _sites(database)
    assert await _found(database, PageFilter(), domain="three.example") == []
    assert await page_queries.outcomes(database, "three.example") == {}


async def test_a_domain_is_counted_and_listed(database: Database) -> None:
    await _sites(database)
    counts = await page_queries.outcomes(database, "one.example")
    assert counts["ok"] == 6
    assert counts["blocked"] == 3
    listed = await page_queries.pages(database, "one.example", outcome="blocked", limit=2)
    assert [page.url for page in listed.pages] == [f"https://one.example/{n}" for n in (0, 4)]
    assert listed.reached == listed.pages[-1].id
    folders = await page_queries.folders(database, "one.example", "one.example/")
    assert {folder.name for folder in folders} >= {str(number) for number in range(9)}


async def _batch(database: Database, count: int) -> UUID:
    text = "".join(f"https://one.example/of-batch-{number}\n" for number in range(count))
    submitter = BatchSubmitter(database, actor="tester")
    report = await submitter.submit(
        lines_of(BytesIO(text.encode()), "lines"), name="many", source="test", form="lines"
    )
    return report.id


@pytest.mark.parametrize("limit, stretch", [(50, None), (2, 3)])
async def test_tasks_of_a_batch(database: Database, limit: int, stretch: int | None) -> None:
    await _sites(database)
    batch_id = await _batch(database, 7)
    for domain, count in ((None, 7), ("one.example", 7), ("two.example", 0)):
        for status in (None, "queued"):
            urls: list[str] = []
            after: int | None = 0
            while after is not None:
                part = await task_stretches.read(
                    database, status, after=after, batch_id=batch_id, domain=domain,
                    limit=limit, stretch=stretch,
                )  # fmt: skip
                urls += [task.url for task in part.tasks]
                after = part.reached
            assert sorted(urls) == [f"https://one.example/of-batch-{n}" for n in range(count)]


async def test_a_large_batch_is_reckoned(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _sites(database)
    batch_id = await _batch(database, 40)
    exact = await queries.batch(database, batch_id)
    assert (exact.fetched, exact.is_reckoned) == (0, False)
    await database.fetch(
        """UPDATE messor.crawl_tasks t SET last_fetched_at = messor.clock() FROM messor.batch_pages b
            WHERE b.page_id = t.page_id AND b.line % 2 = 0"""
    )
    assert (await queries.batch(database, batch_id)).fetched == 20
    monkeypatch.setattr(queries, "COUNTED", 10)
    monkeypatch.setattr(queries, "PROBES", 40)
    reckoned = await queries.batch(database, batch_id)
    assert reckoned.is_reckoned
    assert 15 <= reckoned.fetched <= 25
