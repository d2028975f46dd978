"""What a visit owes a host: pauses also where nothing was heard, and the last word of a redirect."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path

from messor.store.database import Database
from simweb.answers import plain, redirect
from tests.crawling import admit, at_work, suspend, until
from tests.faults.scenes import NOTHING_HELD, holds
from tests.little_web import LittleWeb, Room, page

SILENCE = """
SELECT extract(epoch FROM cooldown_until - messor.clock())::float8 AS seconds, cooldown_reason
  FROM messor.hosts WHERE host = 'one.test'
"""


async def test_a_domain_suspended_during_a_pause_is_not_asked_again(
    database: Database, tmp_path: Path
) -> None:
    async with LittleWeb(tmp_path, {"one.test": {"/": page("home")}}) as web:
        domain = await admit(database, "http://one.test/", delay=4.0)
        async with at_work(web.settings(), database):
            await until(web.requests)
            await suspend(database, domain)
            await holds(database, "domains", NOTHING_HELD)
        assert web.paths("one.test", guesses=True) == ["/robots.txt"]


async def test_retry_after_counts_at_the_end_of_a_redirected_robots(
    database: Database, tmp_path: Path
) -> None:
    rooms: dict[str, Room] = {
        "/robots.txt": redirect("/r"),
        "/r": plain(503, "later", ("Retry-After", "7200")),
        "/": page("home"),
    }
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, "http://one.test/", delay=0.01)
        async with at_work(web.settings(), database):
            await until(lambda: len(web.requests()) == 2)
            await asyncio.sleep(0.5)
        assert web.paths("one.test") == ["/robots.txt", "/r"]
    row = await database.fetchrow(SILENCE)
    assert row is not None
    assert row["seconds"] > 7000


async def test_a_host_that_is_down_is_tried_at_its_pace_and_then_left_alone(
    database: Database, tmp_path: Path
) -> None:
    links = [f"/{n}" for n in range(40)]
    async with LittleWeb(tmp_path, {"one.test": {"/": page("home", *links)}}) as web:
        settings = web.settings()
        await admit(database, "http://one.test/", delay=0.5)
        async with at_work(settings, database):
            await until(lambda: "/" in web.paths("one.test"))
            await web.server.stop()
            await holds(database, "hosts", "cooldown_reason LIKE '%no answer%'")
    tried = await database.fetch(
        """SELECT fetched_at FROM messor.http_fetches WHERE status_code IS NULL ORDER BY fetched_at"""
    )
    moments = [row["fetched_at"].timestamp() for row in tried]
    assert 3 <= len(moments) <= 6
    assert (
        min(b - a for a, b in itertools.pairwise(moments)) >= 0.25
    )  # of the 0.5 s, as far as the clocks of two flushes agree
    row = await database.fetchrow(SILENCE)
    assert row is not None
    assert "no answer" in row["cooldown_reason"]
