"""Crawls over time: what did not change makes no snapshot, what changed is told as it was."""

from __future__ import annotations

import gzip
import itertools
from datetime import timedelta
from pathlib import Path

import pytest

from messor.store.database import Database
from simweb.answers import Request, SimResponse, plain
from tests.crawling import admit, crawl, later, outcomes
from tests.little_web import LittleWeb, Room, page, robots

LATER = timedelta(hours=25)


async def history(database: Database, path: str = "/") -> list[str]:
    rows = await database.fetch(
        """SELECT c.state FROM messor.page_changes c JOIN messor.pages p ON p.id = c.page_id
            WHERE p.url = 'http://one.test' || $1 ORDER BY c.seen_at""",
        path,
    )
    return [row["state"] for row in rows]


async def crawl_over_time(dsn: str, folder: Path, *turns: Room) -> tuple[list[str], int]:
    """Serve one answer after another for `/`, a crawl each; its changes and snapshots."""
    async with LittleWeb(folder, {"one.test": {"/": turns[0]}}) as web:
        async with Database(dsn) as database:
            await admit(database, "http://one.test/")
        for number, turn in enumerate(turns):
            web.houses["one.test"].rooms["/"] = turn
            async with Database(later(dsn, timedelta(days=8 * number))) as database:
                await crawl(web.settings(), database)
        assert web.paths("one.test").count("/") == len(turns)
    async with Database(dsn) as database:
        count = await database.fetchval("SELECT count(*) FROM messor.page_snapshots")
        return await history(database), count


A, B = page("A"), page("B")
GONE, BROKEN = plain(404, "gone"), plain(500, "broken")


@pytest.mark.parametrize(
    "turns, states, snapshots",
    [
        ((A, A, A), ["new"], 1),
        ((A, B), ["new", "changed"], 2),
        ((A, B, A), ["new", "changed", "changed"], 2),
        ((A, GONE), ["new", "removed"], 1),
        ((A, GONE, GONE), ["new", "removed"], 1),
        ((A, BROKEN, A), ["new"], 1),
        ((A, SimResponse(200, (("Content-Type", "text/html"),), b""), A), ["new"], 1),
        ((A, GONE, BROKEN, GONE), ["new", "removed"], 1),
        ((A, GONE, B), ["new", "removed", "changed"], 2),
    ],
    ids=[
        "same",
        "changed",
        "back",
        "gone",
        "gone-twice",
        "failure",
        "empty",
        "gone-failure-gone",
        "replaced",
    ],
)
async def test_the_history_of_a_page(
    dsn: str, tmp_path: Path, turns: tuple[Room, ...], states: list[str], snapshots: int
) -> None:
    assert await crawl_over_time(dsn, tmp_path, *turns) == (states, snapshots)


async def test_a_page_that_returns_is_told_to_be_back(dsn: str, tmp_path: Path) -> None:
    states, snapshots = await crawl_over_time(dsn, tmp_path, A, GONE, A)
    assert states[:2] == ["new", "removed"]
    assert len(states) == 3  # or it would stay removed for ever
    assert snapshots == 1


async def test_bytes_that_change_without_the_content_are_no_change(
    dsn: str, tmp_path: Path
) -> None:
    numbers = itertools.count()

    def with_nonce(_: Request) -> SimResponse:
        body = A.body.replace(b"</body>", b"<!-- served as %d --></body>" % next(numbers))
        return SimResponse(200, A.headers, body)

    turns = [with_nonce] * 3
    assert await crawl_over_time(dsn, tmp_path, *turns) == (["new"], 1)


async def test_a_server_that_packs_anew_each_time_changes_nothing(dsn: str, tmp_path: Path) -> None:
    times = itertools.count()

    def repacked(_: Request) -> SimResponse:
        body = gzip.compress(A.body, mtime=next(times))
        return SimResponse(200, (*A.headers, ("Content-Encoding", "gzip")), body)

    assert await crawl_over_time(dsn, tmp_path, *[repacked] * 3) == (["new"], 1)
    async with Database(dsn) as database:
        assert (await outcomes(database))["http://one.test/"] == "unchanged"


async def test_an_unchanged_page_is_asked_for_with_its_validator(dsn: str, tmp_path: Path) -> None:
    conditions: list[str | None] = []

    def tagged(request: Request) -> SimResponse:
        conditions.append(request.headers.get("if-none-match"))
        if conditions[-1] == '"v1"':
            return SimResponse(304, (("ETag", '"v1"'),))
        return page("A", extra=(("ETag", '"v1"'),))

    assert await crawl_over_time(dsn, tmp_path, tagged, tagged, tagged) == (["new"], 1)
    assert conditions == [None, '"v1"', '"v1"']
    async with Database(dsn) as database:
        assert (await outcomes(database))["http://one.test/"] == "unchanged"


async def test_robots_tightened_between_crawls_are_kept(dsn: str, tmp_path: Path) -> None:
    rooms: dict[str, Room] = {"/": page("home", "/a"), "/a": page("a")}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        async with Database(dsn) as database:
            await admit(database, "http://one.test/")
            await crawl(web.settings(), database)
        web.houses["one.test"].rooms["/robots.txt"] = robots("User-agent: *\nDisallow: /a\n")
        async with Database(later(dsn, LATER)) as database:
            await crawl(web.settings(), database)
            assert (await outcomes(database))["http://one.test/a"] == "robots"
        assert web.paths("one.test").count("/a") == 1
        assert web.paths("one.test").count("/robots.txt") == 2


async def test_a_site_whose_robots_come_back_is_crawled(dsn: str, tmp_path: Path) -> None:
    async with LittleWeb(
        tmp_path, {"one.test": {"/robots.txt": plain(500, "broken"), "/": page("home")}}
    ) as web:
        async with Database(dsn) as database:
            await admit(database, "http://one.test/")
            await crawl(web.settings(), database)
        assert web.paths("one.test") == ["/robots.txt"]
        web.houses["one.test"].rooms["/robots.txt"] = robots("User-agent: *\nAllow: /\n")
        async with Database(later(dsn, timedelta(minutes=11))) as database:
            await crawl(web.settings(), database)
        assert web.paths("one.test") == ["/robots.txt", "/robots.txt", "/"]
