"""Pages that fit a filter, scan by scan: none is missed, none is told twice."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from uuid import UUID

import pytest

from messor.frontier import batch_queries, page_queries, scans
from messor.frontier.batch_queries import BATCHES, BatchFilter
from messor.frontier.batches import BatchSubmitter, lines_of
from messor.frontier.page_queries import PAGES, PageFilter
from messor.frontier.task_queries import TASKS, TaskFilter
from messor.registry.domains import Domain
from messor.store.database import Database
from tests.console import seeding
from tests.crawling import admit


async def _found(database: Database, wanted: PageFilter, limit: int = 50) -> list[str]:
    found: list[str] = []
    cursor = None
    while True:
        part = await PAGES.read(database, wanted, cursor=cursor, limit=limit)
        found += [page.url for page in part.items]
        if (cursor := part.next) is None:
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
    database: Database,
    domain: str | None,
    limit: int,
    stretch: int | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await _sites(database)
    _bound(monkeypatch, stretch)
    hosts = ["one.example"] if domain else ["one.example", "two.example"]
    blocked = await _found(database, PageFilter(domain=domain, outcome="blocked"), limit)
    assert blocked == [f"https://{host}/{number}" for number in (0, 4, 8) for host in hosts]
    seven = await _found(database, PageFilter(domain=domain, q="/7"), limit)
    assert seven == [f"https://{host}/7" for host in hosts]
    assert await _found(database, PageFilter(domain=domain, kind="render"), limit) == []
    assert await _found(database, PageFilter(domain=domain, kept=True), limit) == []
    every = await _found(database, PageFilter(domain=domain), limit)
    assert len(every) == len(set(every))
    assert {f"https://{host}/{number}" for number in range(9) for host in hosts} <= set(every)
    assert await _found(database, PageFilter(domain=domain, kept=False), limit) == every
    await database.fetch(
        "UPDATE messor.pages SET category = CASE WHEN url LIKE '%/3' THEN 'contact' ELSE 'about' END"
    )
    contact = await _found(database, PageFilter(domain=domain, category="contact"), limit)
    assert contact == [f"https://{host}/3" for host in hosts]


def _bound(monkeypatch: pytest.MonkeyPatch, stretch: int | None) -> None:
    if stretch is not None:
        monkeypatch.setattr(scans, "OF_ALL", stretch)
        monkeypatch.setattr(scans, "OF_SOME", stretch)


async def test_nothing_of_a_domain_that_is_not_there(database: Database) -> None:
    await _sites(database)
    assert await _found(database, PageFilter(domain="three.example")) == []
    assert await page_queries.outcomes(database, "three.example") == {}


async def test_a_domain_is_counted_and_listed(database: Database) -> None:
    await _sites(database)
    counts = await page_queries.outcomes(database, "one.example")
    assert counts["ok"] == 6
    assert counts["blocked"] == 3
    wanted = PageFilter(domain="one.example", outcome="blocked")
    listed = await PAGES.read(database, wanted, limit=2)
    assert [page.url for page in listed.items] == [f"https://one.example/{n}" for n in (0, 4)]
    assert listed.next is not None
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
async def test_tasks_of_a_batch(
    database: Database, limit: int, stretch: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _sites(database)
    _bound(monkeypatch, stretch)
    batch_id = await _batch(database, 7)
    for domain, count in ((None, 7), ("one.example", 7), ("two.example", 0)):
        expected = [f"https://one.example/of-batch-{n}" for n in range(count)]
        for status in (None, "queued"):
            wanted = TaskFilter(batch=batch_id, domain=domain, status=status)
            urls: list[str] = []
            cursor = None
            while True:
                part = await TASKS.read(database, wanted, cursor=cursor, limit=limit)
                urls += [task.url for task in part.items]
                if (cursor := part.next) is None:
                    break
            assert sorted(urls) == expected
        assert sorted(await _found(database, PageFilter(batch=batch_id, domain=domain))) == expected


async def test_a_large_batch_is_reckoned(database: Database) -> None:
    await _sites(database)
    batch_id = await _batch(database, 40)
    exact = await batch_queries.batch(database, batch_id)
    assert (exact.fetched, exact.is_reckoned) == (0, False)
    await database.fetch(
        """UPDATE messor.crawl_tasks t SET last_fetched_at = messor.clock() FROM messor.batch_pages b
            WHERE b.page_id = t.page_id AND b.line % 2 = 0"""
    )
    assert (await batch_queries.batch(database, batch_id)).fetched == 20
    joins = batch_queries.fetched_since(counted=10, probes=40)
    (reckoned,) = (await replace(BATCHES, joins=joins).read(database, BatchFilter(q="MANY"))).items
    assert reckoned.is_reckoned
    assert 15 <= reckoned.fetched <= 25
    assert (await BATCHES.read(database, BatchFilter(q="few"))).items == []
