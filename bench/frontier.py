"""What the frontier costs when it is large: links of a page, and claims of lanes and their tasks.

Run as `python -m bench.frontier` (`--quick` for a short run), on an embedded PostgreSQL that is
thrown away afterwards. Exits 1 when a bar is broken.

Links: every page has 120, of which 116 are known: 90 that all pages of its host have, 26 of its
own section. The cost is everything from the hrefs as written to the committed rows, PostgreSQL's
CPU included; the making up of the pages is not part of it. Claims: 32 lanes and up to 50 due tasks of each, given back after; half of all tasks
lie in one lane.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import median

import asyncpg
import uvloop
from bench.measure import cpu_seconds
from bench.queue import Bar, execute, judge, own_database
from bench.stage import embedded_postgres

from messor.core.memory import keep_freed_memory
from messor.crawl.batch import FlushBatch
from messor.crawl.links import LinkFilter
from messor.frontier import pages, tasks
from messor.frontier.seen import SeenFilter
from messor.frontier.tasks import Task
from messor.governance import admission
from messor.politeness import lanes
from messor.politeness.lanes import GivenBack, Lane
from messor.politeness.lease import WorkerLease
from messor.registry import domains
from messor.store.database import Database
from messor.web.html import PageReading
from messor.web.urls import LinkCache, LinkResolver, Url, parse

ACTOR = "bench"
LINKS_MS = 0.15
CLAIM_RATIO = 2.0
CLAIMED = 32
VISIT_PAGES = 50
LEASE = 600.0
SECTION = 100  # pages that link to each other
SHARED, OWN, NEW = 90, 26, 4  # links of a page
BATCH = 200

FILL = """
WITH made AS (
  INSERT INTO messor.pages (host_id, url_hash, url, found_by, depth)
  SELECT $1, sha256(u.url::bytea), u.url, 'link', 2
    FROM (SELECT 'http://' || $2 || '/s' || n / $4::int || '/p' || n AS url
            FROM generate_series(0, $3::int - 1) n) u
  ON CONFLICT DO NOTHING RETURNING id, host_id
)
INSERT INTO messor.crawl_tasks (page_id, host_id, priority, due_at)
SELECT id, host_id, 5 + id % 3, messor.clock() - make_interval(secs => id % 100000) FROM made
"""
# Beyond the daily pages of a site nothing else is due.
WAKE = """
UPDATE messor.lanes SET due_at = messor.clock(), claim_at = messor.clock(), ready_at = messor.clock()
"""
SETTLE = "DELETE FROM messor.crawl_tasks WHERE kind <> 'page'"


@dataclass(frozen=True)
class Size:
    hosts: int
    known: int  # URLs when links are added
    link_pages: int
    shallow: int  # tasks when lanes are claimed
    deep: int
    claims: int


FULL = Size(50, 1_000_000, 4_000, 10_000, 5_000_000, 60)
QUICK = Size(20, 60_000, 2_000, 10_000, 200_000, 20)


def name_of(number: int) -> str:
    return f"bench-{number:03}.test"


async def prepare(dsn: str, counts: list[int]) -> dict[str, int]:
    """Approved domains with as many known pages, all due; answers the hosts' ids."""
    ids: dict[str, int] = {}
    async with Database(dsn) as database:
        for number in range(len(counts)):
            async with database.transaction() as connection:
                wanted = domains.Submission.understand(f"http://{name_of(number)}/")
                domain, _ = await domains.submit(connection, wanted, actor=ACTOR)
                domain = await domains.configure(
                    connection, domain, actor=ACTOR, delay=0, page_budget=10_000_000
                )
                await admission.approve(connection, domain, actor=ACTOR)
        for row in await database.fetch("SELECT id, host FROM messor.hosts"):
            ids[row["host"]] = row["id"]
    connection = await asyncpg.connect(dsn, ssl=False)
    try:
        for number, count in enumerate(counts):
            name = name_of(number)
            await connection.execute(FILL, ids[name], name, count, SECTION, timeout=3600)
            print(f"\r  {number + 1} of {len(counts)} hosts filled", end="", file=sys.stderr)
        await connection.execute(SETTLE)
        await connection.execute(WAKE)
    finally:
        await connection.close()
    print(file=sys.stderr)
    await execute(dsn, "VACUUM ANALYZE")
    return ids


# Links --------------------------------------------------------------------------------------------

Found = tuple[Task, Url, list[str]]


def pages_of(task: Task, host: str, known: int, count: int, seed: int) -> Iterator[Found]:
    """Pages of one host with their links as written, section by section."""
    chance = random.Random(seed)
    shared = [f"/s{n // SECTION}/p{n}" for n in chance.sample(range(known), SHARED)]
    for number in range(count):
        first = number // SECTION * SECTION % (known - SECTION)
        own = [f"/s{n // SECTION}/p{n}" for n in chance.sample(range(first, first + SECTION), OWN)]
        fresh = [f"/new/{seed}-{number}-{n}" for n in range(NEW)]
        url = parse(f"http://{host}/s{first // SECTION}/p{first + number % SECTION}")
        assert url is not None
        # As read from a page: no string is the same object as on another page.
        hrefs = "\n".join([*shared, *own, *fresh]).split("\n")
        yield replace(task, page_id=task.page_id + number), url, hrefs


class Adder:
    """What a worker does with links: sift, gather, add, learn."""

    def __init__(self, database: Database, ids: dict[str, int]) -> None:
        self._database = database
        self._ids = ids
        self._seen = SeenFilter()
        self._link_filter = LinkFilter(self._seen, 5, frozenset())
        self._cache = LinkCache(8_000)
        self._batch = FlushBatch()
        self._gathered = 0

    async def take(self, lane: Lane, task: Task, url: Url, hrefs: list[str]) -> None:
        known = self._link_filter.known_hrefs(url, lane, task)
        written = list(dict.fromkeys([href for href in hrefs if href not in known]))
        links = LinkResolver(url, self._cache).resolve(written)
        reading = PageReading(url.href, url.href, hrefs=written, anchors=[""] * len(written))
        reading.links = [link for link in links if link is not None]
        assert len(reading.links) == len(written)
        found, _ = self._link_filter.filter_links(lane, task, url, reading)
        self._batch.find(found)
        self._gathered += 1
        if self._gathered >= BATCH:
            await self.flush(lane.host_id)

    async def flush(self, held: int) -> None:
        found = list(self._batch.found.values())
        self._batch, self._gathered = FlushBatch(), 0
        if not found:
            return
        async with self._database.transaction() as connection:
            admitted, _ = await pages.admit(connection, found)
            admitted, _ = await pages.admit_patterns(connection, admitted, self._ids, 160)
            await pages.add(connection, admitted, self._ids, [held])
        for host in {page.host for page in found}:
            self._seen.learn(
                host, {page.url_hash: page.depth for page in found if page.host == host}
            )


async def link_ms(
    dsn: str, postmaster: int, ids: dict[str, int], size: Size
) -> tuple[float, float]:
    """Milliseconds of CPU per page, here and in PostgreSQL, once a host's links are known."""
    per_host, here, there, counted = size.known // size.hosts, 0.0, 0.0, 0
    be_as_a_worker()
    async with Database(dsn) as database:
        lease = await WorkerLease.take(database, ACTOR, LEASE)
        held = await lanes.claim(database, lease, 4, 0.0, 1_000)
        adder = Adder(database, ids)
        for lane in held:
            due = await tasks.due(database, [lane.host_id], 1, 0.0)
            count = size.link_pages // len(held)
            warm = max(count // 4, BATCH)  # until then no link of the host is known
            found = list(pages_of(due[lane.host_id][0], lane.host, per_host, count + warm, 7))
            for number, (task, url, hrefs) in enumerate(found):
                if number == warm:
                    # Pages are counted with their own flushes, and reading clocks with nobody.
                    await adder.flush(lane.host_id)
                    there -= cpu_seconds(postmaster)
                    here -= time.process_time()
                await adder.take(lane, task, url, hrefs)
            await adder.flush(lane.host_id)
            here += time.process_time()
            there += cpu_seconds(postmaster)
            counted += count
    return 1000 * here / counted, 1000 * there / counted


def be_as_a_worker() -> None:
    """The collector and the memory of this process, as `crawl.worker` sets them for its own."""
    gc.freeze()
    gc.set_threshold(50_000, 50, 50)
    keep_freed_memory()


def link_bars(dsn: str, postmaster: int, size: Size) -> list[Bar]:
    with own_database(dsn) as own:
        counts = [size.known // size.hosts] * size.hosts
        ids = asyncio.run(prepare(own, counts))
        here, there = uvloop.run(link_ms(own, postmaster, ids, size))
        print(f"  here {here:.3f} ms, in PostgreSQL {there:.3f} ms per page", flush=True)
        found = here + there
        return [("CPU of 120 links, ms per page", found, "<= 0.15", found <= LINKS_MS)]


# Claims -------------------------------------------------------------------------------------------


async def claim_ms(database: Database, lease: WorkerLease) -> float:
    """Milliseconds to claim lanes with their due tasks; the large lane is always among them."""
    begun = time.perf_counter()
    held = await lanes.claim(database, lease, CLAIMED, 0.0, 1_000)
    due = await tasks.due(database, [lane.host_id for lane in held], VISIT_PAGES, 0.25)
    taken = (time.perf_counter() - begun) * 1000
    assert len(held) == CLAIMED
    assert sum(map(len, due.values())) == CLAIMED * VISIT_PAGES
    async with database.transaction() as connection:
        await lanes.lock(connection, [lane.host_id for lane in held])
        back = [GivenBack(lane, 0, "done") for lane in held]
        await lanes.give_back(connection, lease.id, back)
    await database.fetch(WAKE)
    return taken


async def claims_ms(shallow: str, deep: str, claims: int) -> tuple[float, float]:
    """Claims on both frontiers in turns, so that a busy machine is as busy for both; medians."""
    taken: tuple[list[float], list[float]] = ([], [])
    async with Database(shallow) as first, Database(deep) as second:
        leases = [await WorkerLease.take(each, ACTOR, LEASE) for each in (first, second)]
        for turn in range(claims + 5):
            for database, lease, times in zip((first, second), leases, taken, strict=True):
                found = await claim_ms(database, lease)
                if turn >= 5:
                    times.append(found)
    return median(taken[0]), median(taken[1])


def lopsided(count: int) -> list[int]:
    """Half of all tasks in one lane."""
    beside = CLAIMED - 1
    return [count // 2, *[count // 2 // beside] * beside]


def claim_bars(dsn: str, _: int, size: Size) -> list[Bar]:
    with own_database(dsn, "bench_shallow") as first, own_database(dsn, "bench_deep") as second:
        asyncio.run(prepare(first, lopsided(size.shallow)))
        asyncio.run(prepare(second, lopsided(size.deep)))
        shallow, deep = uvloop.run(claims_ms(first, second, size.claims))
    print(f"  {CLAIMED} lanes at {size.shallow:,} tasks: {shallow:.1f} ms", flush=True)
    print(f"  {CLAIMED} lanes at {size.deep:,} tasks: {deep:.1f} ms", flush=True)
    ratio = deep / shallow
    return [("claim of lanes and tasks, deep over shallow", ratio, "<= 2.0", ratio <= CLAIM_RATIO)]


PARTS = {"links": link_bars, "claims": claim_bars}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", action="append", choices=sorted(PARTS), help="only this part")
    given = parser.parse_args()
    size = QUICK if given.quick else FULL
    with embedded_postgres() as (dsn, server):
        print(f"PostgreSQL {server.version}, process {os.getpid()}", flush=True)
        postmaster = server.pid
        assert postmaster is not None
        bars = [bar for part in given.only or PARTS for bar in PARTS[part](dsn, postmaster, size)]
    if not judge(bars):
        sys.exit(1)


if __name__ == "__main__":
    main()
