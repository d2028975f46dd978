"""Batches: every line judged by itself, the good ones due, the bad ones named."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator
from datetime import timedelta
from io import BytesIO
from typing import Any

import pytest

from messor.core.ids import new_id
from messor.errors import NotFoundError, UsageError
from messor.frontier import batch_queries, batches, control
from messor.frontier.batch_lines import MAX_LINE, BadLine, BatchItem, Line, LineReader, guess_format
from messor.frontier.batch_queries import (
    BATCH_ERRORS,
    BATCHES,
    BatchErrorFilter,
    BatchFilter,
)
from messor.frontier.batches import BatchReport, BatchSubmitter
from messor.frontier.control import Scope
from messor.store.database import Database
from tests.held_lanes import make_domain

TASKS = """
SELECT p.url, t.kind, t.priority, t.crawl_frequency, t.status, t.due_at
  FROM messor.crawl_tasks t JOIN messor.pages p ON p.id = t.page_id WHERE t.kind <> 'robots'
"""


async def submit(
    database: Database, text: str | bytes, form: str = "lines", **terms: Any
) -> BatchReport:
    body = text.encode() if isinstance(text, str) else text
    submitter = BatchSubmitter(database, actor="tester", **terms)
    lines = batches.lines_of(BytesIO(body), form)
    return await submitter.submit(lines, name="mine", source="test", form=form)


async def rows(database: Database) -> dict[str, Any]:
    return {row["url"]: row for row in await database.fetch(TASKS)}


def reasons(report: BatchReport) -> dict[int, str]:
    return {line.line: line.reason for line in report.errors}


async def test_ten_thousand_lines_with_bad_ones_among_them(database: Database) -> None:
    await make_domain(database, budget=20_000)
    bad = {
        17: "ftp://example.test/x",
        4_999: "https://nobody.test/",
        9_001: "\x00\x01",
        10_000: "{",
    }
    text = "\n".join(bad.get(n, f"https://example.test/item/{n}") for n in range(1, 10_001))
    before = database.round_trips
    report = await submit(database, text)
    assert database.round_trips - before < 130, "a dozen for each thousand lines"
    assert (report.lines, report.accepted, report.fresh, report.rejected) == (
        10_000,
        9_996,
        9_996,
        4,
    )
    assert set(reasons(report)) == set(bad)
    assert "messor domains submit nobody.test" in reasons(report)[4_999]
    assert len(await rows(database)) == 9_996
    wanted = BatchErrorFilter(batch_id=report.id)
    assert [line async for line in BATCH_ERRORS.all(database, wanted)] == report.errors
    (batch,) = (await BATCHES.read(database, BatchFilter())).items
    assert (batch.lines, batch.accepted, batch.rejected) == (10_000, 9_996, 4)
    assert batch.finished_at is not None
    event = await database.fetchrow("SELECT actor, data ->> 'accepted' AS n FROM messor.events")
    assert event is not None
    assert tuple(event) == ("tester", "9996")


async def test_csv_has_a_header_and_each_line_its_own_terms(database: Database) -> None:
    await make_domain(database)
    report = await submit(
        database,
        "\ufeffName,URL,Priority,Frequency\r\n"
        "a,https://example.test/a,1,12h\r\n"
        "\r\n"
        "b,https://example.test/b,,\r\n"
        "c,https://example.test/c,11,\r\n"
        "d,https://example.test/d,3,often\r\n"
        'e,"https://example.test/e\r\n'
        "f,https://example.test/f,2,weekly,more\r\n"
        "g,,2\r\n"
        'h,"https://example.test/h",2,monthly\r\n',
        "csv",
        priority=7,
        frequency=timedelta(days=2),
    )
    assert set(reasons(report)) == {5, 6, 7, 8, 9}
    assert "from 1 (first) to 10" in reasons(report)[5]
    assert "not a frequency" in reasons(report)[6]
    assert "not CSV" in reasons(report)[7]
    terms = {
        url[-1]: (r["priority"], r["crawl_frequency"]) for url, r in (await rows(database)).items()
    }
    assert terms == {
        "a": (1, timedelta(hours=12)),
        "b": (7, timedelta(days=2)),
        "h": (2, timedelta(days=30)),
    }


async def test_json_lines_are_objects_or_addresses(database: Database) -> None:
    await make_domain(database)
    lines = [
        '{"url": "https://example.test/a", "priority": 2, "crawl_frequency": "1d", "more": []}',
        '"https://example.test/b"',
        "[1]",
        '{"priority": 2}',
        '{"url": "https://example.test/c", "priority": true}',
        '{"url": "https://example.test/c", "priority": "4"}',
        '{"url": "https://example.test/d", "frequency": 12}',
        "[" * 5000,
        '{"url": "https://example.test/\\ud800"}',
    ]
    report = await submit(database, "\n".join(lines), "jsonl")
    assert set(reasons(report)) == {3, 4, 5, 7, 8, 9}
    taken = await rows(database)
    assert taken["https://example.test/a"]["crawl_frequency"] == timedelta(days=1)
    assert taken["https://example.test/c"]["priority"] == 4


async def test_a_sitemap_file_is_a_batch_and_the_sitemaps_it_names_are_read(
    database: Database,
) -> None:
    await make_domain(database)
    body = gzip.compress(
        b"<sitemapindex><sitemap><loc>https://example.test/more.xml</loc></sitemap></sitemapindex>"
    )
    report = await submit(database, body, "sitemap")
    assert report.accepted == 1
    assert await database.fetchval("SELECT count(*) FROM messor.sitemaps") == 1
    body = b"<urlset><url><loc>https://example.test/a</loc></url></urlset>"
    assert (await submit(database, body, "sitemap")).accepted == 1
    assert {row["kind"] for row in (await rows(database)).values()} == {"page", "sitemap"}
    with pytest.raises(UsageError, match="Not a sitemap"):
        await submit(database, b"<html><p>nothing", "sitemap")


async def test_the_address_of_a_sitemap_becomes_a_task_of_its_own(database: Database) -> None:
    await make_domain(database)
    submitter = BatchSubmitter(database, actor="tester")
    lines = batches.sitemap_at("https://example.test/sitemap.xml")
    report = await submitter.submit(lines, name="s", source="s", form="sitemap")
    assert report.accepted == 1
    (row,) = (await rows(database)).values()
    assert (row["kind"], row["priority"]) == ("sitemap", 2)


@pytest.mark.parametrize(
    "status, said",
    [
        ("pending_review", "is awaiting review"),
        ("suspended", "suspended"),
        ("rejected", "was rejected: spam"),
        ("blacklisted", "blacklisted: spam"),
    ],
)
async def test_pages_of_a_domain_that_is_not_approved_are_named(
    database: Database, status: str, said: str
) -> None:
    await make_domain(database, "other.test")
    await database.fetch(
        "UPDATE messor.domains SET status = $1, rejection_reason = 'spam'"
        if status in ("rejected", "blacklisted")
        else "UPDATE messor.domains SET status = $1",
        status,
    )
    await make_domain(database)
    report = await submit(database, "https://www.other.test/a\nhttps://example.test/a")
    assert report.accepted == 1
    assert said in reasons(report)[1]


async def test_the_same_page_twice_is_one_task_and_no_fault(database: Database) -> None:
    await make_domain(database)
    text = (
        "https://example.test/a\n# a comment\nhttps://EXAMPLE.test/a#part\nhttps://example.test/b"
    )
    report = await submit(database, text)
    assert (report.accepted, report.duplicates, report.rejected) == (2, 1, 0)
    assert reasons(report) == {3: "the same page as line 1"}
    again = await submit(database, text, priority=2)
    assert (again.accepted, again.fresh) == (2, 0)
    assert {row["priority"] for row in (await rows(database)).values()} == {2}
    assert await database.fetchval("SELECT pages_known FROM messor.domains") == 2


async def test_a_budget_takes_what_fits_and_names_the_rest(database: Database) -> None:
    await make_domain(database, budget=3)
    report = await submit(database, "\n".join(f"https://example.test/{n}" for n in range(5)))
    assert (report.accepted, report.rejected) == (3, 2)
    assert "all 3 pages of the budget of example.test are known" in reasons(report)[5]


async def test_what_is_paused_stays_so_and_what_was_stopped_is_asked_for_anew(
    database: Database,
) -> None:
    await make_domain(database)
    await submit(database, "https://example.test/paused\nhttps://example.test/stopped")
    for act, name in (("pause", "paused"), ("stop", "stopped")):
        scope = await Scope.url(database, f"https://example.test/{name}")
        await control.act(database, act, scope, actor="tester")
    await submit(database, "https://example.test/paused\nhttps://example.test/stopped")
    found = {url.rpartition("/")[2]: row for url, row in (await rows(database)).items()}
    assert (found["paused"]["status"], found["paused"]["due_at"]) == ("paused", None)
    assert found["stopped"]["status"] == "pending"
    assert found["stopped"]["due_at"] is not None


async def test_new_hosts_are_opened_with_their_robots_first(database: Database) -> None:
    await make_domain(database)
    await submit(database, "\n".join(f"https://h{n}.example.test/a" for n in range(50)))
    robots = "SELECT count(*) FROM messor.crawl_tasks WHERE kind = 'robots'"
    assert await database.fetchval(robots) == 50
    awake = "SELECT count(*) FROM messor.lanes WHERE claim_at IS NOT NULL"
    assert await database.fetchval(awake) == 50


async def test_hostile_bytes_are_reasons_and_nothing_more(database: Database) -> None:
    await make_domain(database)
    lines = [
        b"\xff\xfeh\x00t\x00t\x00p\x00",
        b"https://example.test/" + b"a" * MAX_LINE,
        b"https://example.test/" + b"a" * 5000,
        b"javascript:alert(1)",
        b"https://127.0.0.1/admin",
        b"https://user:secret@example.test/ok",
        b"=cmd|' /C calc'!A0",
        b"https://example.test/good",
    ]
    report = await submit(database, b"\n".join(lines))
    assert set(reasons(report)) == {1, 2, 3, 4, 5, 7}
    assert set(await rows(database)) == {"https://example.test/ok", "https://example.test/good"}
    assert all("\0" not in line.text for line in report.errors)


async def test_a_source_that_breaks_off_keeps_what_was_in(database: Database) -> None:
    await make_domain(database)

    async def lines() -> AsyncIterator[Line]:
        async for line in batches.lines_of(
            BytesIO(b"\n".join(b"https://example.test/%d" % n for n in range(1_500))), "lines"
        ):
            yield line
        raise OSError("the connection is gone")

    with pytest.raises(OSError, match="gone"):
        await BatchSubmitter(database, actor="tester").submit(
            lines(), name="n", source="s", form="lines"
        )
    (batch,) = (await BATCHES.read(database, BatchFilter())).items
    assert (batch.accepted, batch.finished_at) == (1_000, None)


@pytest.mark.parametrize(
    "priority, is_good", [("0", False), ("1", True), ("10", True), ("11", False)]
)
def test_a_priority_is_from_one_to_ten(priority: str, *, is_good: bool) -> None:
    line = f'{{"url": "https://example.test/a", "priority": {priority}}}'
    found = LineReader("jsonl").read(line.encode())
    if is_good:
        assert isinstance(found, BatchItem)
        assert found.priority == int(priority)
    else:
        assert isinstance(found, BadLine)
        assert "from 1 (first) to 10" in found.reason


def test_csv_without_a_header_is_refused_as_a_whole() -> None:
    with pytest.raises(UsageError, match="name its columns"):
        LineReader("csv").read(b"https://example.test/a,1")


def test_a_line_is_understood_by_itself() -> None:
    reader = LineReader("csv")
    assert reader.read(b"url\n") is None
    assert isinstance(reader.read(b'"https://example.test/open\n'), BadLine)
    assert isinstance(reader.read(b"https://example.test/next\n"), BatchItem)


@pytest.mark.parametrize(
    "name, head, form",
    [
        ("a.csv", b"", "csv"),
        ("a.ndjson", b"", "jsonl"),
        ("", b"<?xml", "sitemap"),
        ("", b'{"url"', "jsonl"),
        ("", b"id,url\n", "csv"),
        ("urls.txt", b"https://a.test/url,x", "lines"),
    ],
)
def test_the_format_is_guessed(name: str, head: bytes, form: str) -> None:
    assert guess_format(name, head) == form


async def test_an_unknown_batch_is_not_found(database: Database) -> None:
    with pytest.raises(NotFoundError, match="messor tasks batches"):
        await batch_queries.batch(database, new_id())
