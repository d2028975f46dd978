"""Caps on models: exact, whoever spends, on pages of any size."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from messor.ai.chunks import pack, page_chunks
from messor.ai.ledger import Subject
from messor.ai.options import Cap
from messor.ai.reply import ReplyStatus
from messor.ai.visible_text import VisibleText
from messor.content.view import PageView
from messor.store.database import Database
from simweb.services import Failure
from simweb.services.model import ModelStandIn, Mood
from tests.ai.ai_bench import KEY, SUBJECT, bench, page

PRICED: dict[str, Any] = {"input_price": Decimal(1), "output_price": Decimal(4)}
PARAGRAPH = "Our spa near the lake has been open since the flood, {} days ago, and is a calm place."


def long_page(size: int) -> str:
    """An article with a long menu around it."""
    menu = "".join(f"<li><a href='/m{n}'>Menu entry {n}</a></li>" for n in range(size // 400))
    text = "".join(f"<p>{PARAGRAPH.format(n)}</p>" for n in range(size // 110))
    return f"<nav><ul>{menu}</ul></nav><article><h1>The lake</h1><p>Free tea at noon.</p>{text}</article>"


@pytest.mark.parametrize("scope", ["job", "domain", "month"])
@pytest.mark.parametrize("cap", [Cap(tokens=20_000), Cap(cost=Decimal("0.03"))])
async def test_many_at_once_never_exceed_a_cap(dsn: str, scope: str, cap: Cap) -> None:
    async with (
        Database(dsn, pool_size=8) as database,
        bench(database, ModelStandIn(api_key=KEY), **{scope: cap}, **PRICED) as b,
    ):
        pages = [page(f"<p>Free tea, cup {n}</p>") for n in range(16)]
        readings = await asyncio.gather(*(b.read(view) for view in pages))
        endings = [reading.replies[0].ending for reading in readings]
        assert ReplyStatus.ANSWERED in endings
        refused = [r.replies[0] for r in readings if not r.is_complete]
        assert refused
        assert {reply.ending for reply in refused} <= {ReplyStatus.OVER_CAP, ReplyStatus.LEFT_ALONE}
        assert all("might exceed" in reply.sentence for reply in refused)
        _, tokens, cost = (await b.used())["month"]
        assert cap.tokens is None or tokens <= cap.tokens
        assert cap.cost is None or cost <= cap.cost
        assert tokens == b.standin.tokens_counted
        assert len(b.standin.asked) == endings.count(ReplyStatus.ANSWERED)


async def test_what_was_set_aside_and_not_used_can_be_spent(database: Database) -> None:
    async with bench(database, job=Cap(tokens=12_000)) as b:
        asked = 0
        while (await b.read(page(f"<p>Free tea, cup {asked}</p>"))).is_complete:
            asked += 1
        _, tokens, _ = (await b.used())["job:job-1"]
        assert asked > 3
        assert 12_000 >= tokens == b.standin.tokens_counted
        other = await b.read(page("<p>Free tea</p>"), Subject("spa.test", "job-2"))
        assert other.is_complete


@pytest.mark.parametrize("scope", ["job", "domain", "month"])
async def test_what_is_set_aside_for_others_is_waited_for(dsn: str, scope: str) -> None:
    cap: dict[str, Any] = {scope: Cap(tokens=8_000)}
    async with Database(dsn, pool_size=4) as database, bench(database, **cap) as b:
        await b.read(page("<p>Free tea</p>"))  # a count is there
        b.standin.failure = Failure.SILENT
        b.standin.arrival.clear()
        first = asyncio.create_task(b.read(page("<p>Free tea, cup 1</p>")))
        await b.standin.arrival.wait()
        b.standin.failure = None
        (held_off,) = (await b.read(page("<p>Free tea, cup 2</p>"))).replies
        assert (held_off.ending, held_off.is_retryable) == (ReplyStatus.LEFT_ALONE, True)
        assert "in flight" in held_off.sentence
        first.cancel()
        await asyncio.wait([first])
        await database.fetch("UPDATE messor.ai_calls SET ending = 'lost' WHERE ending = 'asked'")
        (over,) = (await b.read(page("<p>Free tea, cup 2</p>"))).replies
        assert over.ending is ReplyStatus.OVER_CAP


async def test_a_cap_of_nothing_asks_nothing(database: Database) -> None:
    async with bench(database, month=Cap(cost=Decimal(0)), **PRICED) as b:
        (reply,) = (await b.read()).replies
        assert reply.ending is ReplyStatus.OVER_CAP
        assert b.standin.asked == []
        assert await b.used() == {}
        assert await b.calls() == []


async def test_a_new_month_is_a_new_cap_but_a_job_keeps_its_own(dsn: str) -> None:
    cap, cup = Cap(tokens=8_000), 0
    async with Database(dsn) as database, bench(database, month=cap) as b:
        while (await b.read(page(f"<p>Free tea, cup {cup}</p>"))).is_complete:
            cup += 1
    refused = page(f"<p>Free tea, cup {cup}</p>")
    async with Database(f"{dsn}?messor.clock_offset=32%20days") as database:
        async with bench(database, job=cap) as b:
            assert (await b.read(refused)).replies[0].ending is ReplyStatus.OVER_CAP
        async with bench(database, month=cap) as b:
            assert (await b.read(refused)).is_complete


async def test_five_megabytes_are_read_within_the_cap(database: Database) -> None:
    cap = Cap(tokens=40_000, cost=Decimal("0.05"))
    async with bench(database, job=cap, chunks=50, **PRICED) as b:
        view = page(long_page(5_400_000))
        assert len(view.source.text) > 5_000_000
        reading = await b.read(view)
        assert reading.is_cut
        assert reading.replies[-1].ending is ReplyStatus.OVER_CAP
        assert len(b.standin.asked) == len(reading.replies) - 1 > 0
        _, tokens, cost = (await b.used())["job:job-1"]
        assert cap.tokens is not None
        assert cap.cost is not None
        assert tokens == b.standin.tokens_counted <= cap.tokens
        assert cost <= cap.cost
        assert reading.records != []


async def test_a_model_that_loops_is_stopped_within_the_cap(database: Database) -> None:
    cap = Cap(tokens=30_000)
    async with bench(database, job=cap, output_tokens=500, chunk_chars=2_000, chunks=50) as b:
        b.standin.mood = Mood.LOOPING
        reading = await b.read(page(long_page(200_000)))
        endings = {reply.ending for reply in reading.replies}
        assert endings == {ReplyStatus.TRUNCATED, ReplyStatus.OVER_CAP}
        assert (await b.used())["job:job-1"][1] <= 30_000
        assert reading.records == []


def test_a_page_that_is_too_long_shows_its_main_content_first() -> None:
    view = page(long_page(100_000))
    found = page_chunks(view, VisibleText.of(view), size=5_000, max_chunks=2)
    assert found.is_cut
    assert len(found.chunks) == 2
    assert all(len(chunk) <= 5_000 for chunk in found.chunks)
    assert "Menu entry" not in "".join(found.chunks)
    assert PARAGRAPH.format(0) in found.chunks[0]
    whole = page_chunks(view, VisibleText.of(view), size=500_000, max_chunks=1)
    assert not whole.is_cut
    assert "Menu entry 3" in whole.chunks[0]


def test_lines_are_packed_and_long_ones_broken() -> None:
    assert pack(["aa", "bb", "c" * 7], 6) == ["aa\nbb", "cccccc", "c"]
    assert pack([], 6) == []


async def test_a_page_without_text_costs_nothing(database: Database) -> None:
    async with bench(database) as b:
        view = PageView.of("<html></html>", "https://a.test/")
        reading = await b.read(view, SUBJECT)
        assert (reading.replies, reading.records, b.standin.asked) == ([], [], [])
