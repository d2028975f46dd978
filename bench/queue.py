"""How fast jobs are claimed and completed: in batches, one by one, and beside procrastinate.

Run as `python -m bench.queue` (`--quick` for a short run). Workers are processes of their own on an
embedded PostgreSQL that is thrown away afterwards; jobs do nothing, so what is measured is the
queue. Contenders take turns; medians are shown. Exits 1 when a bar is broken.
"""  # noqa: A005 - run as bench.queue only

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any

import asyncpg
import procrastinate
import uvloop
from bench.stage import ROOT, embedded_postgres, expect, tell
from procrastinate import PsycopgConnector

from messor.jobs import leases, outcomes
from messor.jobs.handlers import Handlers, Result
from messor.jobs.jobs import Job
from messor.jobs.runner import Runner, RunnerLimits
from messor.store import migrate
from messor.store.database import Connection, Database
from messor.store.dsn import with_database

WORKERS = 4
BATCH = 500
OVER_PROCRASTINATE = 20.0
OVER_SINGLE = 10.0
DEPTH_RATIO = 2.0
WORN = 0.8
READY_SECONDS = 60.0
RUN_SECONDS = 900.0

Bar = tuple[str, float, str, bool]

# Ids grow with time, as Messor's do. Keys are in no order, as hashes and names are: their index is
# touched all over.
FILL = """
INSERT INTO messor.jobs (id, job_type, target_kind, dedupe_key, payload, available_at)
SELECT uuidv7(), 'noop', 'page', md5($2 || n) || ':2026-W46', '{"page": 17}',
       messor.clock() - interval '1 hour' + make_interval(secs => n * 1e-6)
  FROM generate_series(1, $1::int) n
"""


@dataclass(frozen=True)
class Size:
    """How much is run; the shallow and the deep queue of the claims' bar."""

    rounds: int
    peer: int
    single: int
    batched: int
    shallow: int
    deep: int
    claims: int
    wear: int


FULL = Size(2, 2_500, 2_500, 60_000, 10_000, 5_000_000, 200, 1_000_000)
QUICK = Size(1, 1_000, 1_000, 30_000, 10_000, 300_000, 100, 100_000)


# Workers: each runs in a process of its own until nothing is left.


async def work(dsn: str, batch: int) -> None:
    """Claims and completions alone, `batch` jobs at a time."""
    async with Database(dsn, pool_size=1) as database:
        await database.fetch("SELECT 1")
        ready()
        while jobs := await leases.claim(database, "bench", ["noop"], batch, 60):
            async with database.transaction() as connection:
                await outcomes.complete_all(connection, [(job, None) for job in jobs])


async def work_by_runner(dsn: str) -> None:
    """The whole runner, with a handler that does nothing."""
    handlers = Handlers()

    @handlers.handles("noop")
    async def noop(_: Connection, __: Job) -> Result:
        return None

    limits = RunnerLimits(concurrency=128, poll_seconds=0.01)
    async with Database(dsn) as database:
        runner = Runner(database, handlers, "bench", limits)
        ready()
        running = asyncio.create_task(runner.run())
        while await database.fetchval("SELECT 1 FROM messor.jobs WHERE state = 'queued' LIMIT 1"):  # noqa: ASYNC110 - a database has no event
            await asyncio.sleep(0.05)
        runner.stop()
        await running


def peer_app(dsn: str) -> procrastinate.App:
    logging.getLogger("procrastinate").setLevel(logging.ERROR)
    app = procrastinate.App(connector=PsycopgConnector(conninfo=dsn))

    @app.task(name="noop")
    async def noop(page: int) -> None:
        pass

    return app


async def work_as_peer(dsn: str) -> None:
    app = peer_app(dsn)
    async with app.open_async():
        ready()
        await app.run_worker_async(
            wait=False, concurrency=10, listen_notify=False, install_signal_handlers=False
        )


def ready() -> None:
    print("ready", flush=True)
    sys.stdin.readline()


def be_worker(kind: str) -> None:
    dsn = sys.stdin.readline().strip()
    if kind == "procrastinate":
        uvloop.run(work_as_peer(dsn))
    elif kind == "runner":
        uvloop.run(work_by_runner(dsn))
    else:
        uvloop.run(work(dsn, int(kind)))
    print("done", flush=True)


@contextlib.contextmanager
def worker_process(kind: str) -> Iterator[subprocess.Popen[str]]:
    """It is told the DSN by its input: one of a given server may hold a password."""
    with subprocess.Popen(
        [sys.executable, "-m", "bench.queue", "--worker", kind],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def run_workers(kind: str, dsn: str) -> float:
    """Seconds from the word to begin until the last of the workers found nothing more."""
    with contextlib.ExitStack() as stack:
        workers = [stack.enter_context(worker_process(kind)) for _ in range(WORKERS)]
        for worker in workers:
            tell(worker, dsn)
        for worker in workers:
            expect(worker, READY_SECONDS)
        begun = time.perf_counter()
        for worker in workers:
            tell(worker, "go")
        for worker in workers:
            expect(worker, RUN_SECONDS)
        return time.perf_counter() - begun


# What is measured.


async def execute(dsn: str, sql: str, *values: object) -> None:
    connection = await asyncpg.connect(dsn, ssl=False)
    try:
        await connection.execute(sql, *values, timeout=RUN_SECONDS)
    finally:
        await connection.close()


async def fill(dsn: str, count: int, name: str) -> None:
    """Queued jobs, in a table as it is after some time."""
    await execute(dsn, FILL, count, name)
    await execute(dsn, "VACUUM ANALYZE messor.jobs")


async def count_done(dsn: str) -> int:
    connection = await asyncpg.connect(dsn, ssl=False)
    try:
        return int(
            await connection.fetchval("SELECT count(*) FROM messor.jobs WHERE state = 'done'")
        )
    finally:
        await connection.close()


@contextlib.contextmanager
def own_database(dsn: str, name: str = "bench_queue", *, schema: bool = True) -> Iterator[str]:
    asyncio.run(execute(dsn, f"CREATE DATABASE {name}"))
    own = with_database(dsn, name)
    try:
        if schema:
            migrate.upgrade(own)
        yield own
    finally:
        asyncio.run(execute(dsn, f"DROP DATABASE {name} WITH (FORCE)"))


def rate(dsn: str, kind: str, count: int) -> float:
    """Jobs per second on a fresh table."""
    with own_database(dsn) as own:
        asyncio.run(fill(own, count, "fresh"))
        seconds = run_workers(kind, own)
        assert asyncio.run(count_done(own)) == count
        return count / seconds


def peer_rate(dsn: str, count: int) -> float:
    async def prepare(own: str) -> None:
        pages: list[dict[str, Any]] = [{"page": 17}] * count
        app = peer_app(own)
        async with app.open_async():
            await app.schema_manager.apply_schema_async()
            await app.configure_task("noop").batch_defer_async(*pages)

    async def count_succeeded(own: str) -> int:
        connection = await asyncpg.connect(own, ssl=False)
        try:
            return int(
                await connection.fetchval(
                    "SELECT count(*) FROM procrastinate_jobs WHERE status = 'succeeded'"
                )
            )
        finally:
            await connection.close()

    with own_database(dsn, schema=False) as own:
        asyncio.run(prepare(own))
        asyncio.run(execute(own, "VACUUM ANALYZE procrastinate_jobs"))
        seconds = run_workers("procrastinate", own)
        assert asyncio.run(count_succeeded(own)) == count
        return count / seconds


async def claim_ms(database: Database, batch: int) -> float:
    """Milliseconds of a claim; what it took is completed after."""
    begun = time.perf_counter()
    jobs = await leases.claim(database, "bench", ["noop"], batch, 60)
    taken = (time.perf_counter() - begun) * 1000
    async with database.transaction() as connection:
        await outcomes.complete_all(connection, [(job, None) for job in jobs])
    return taken


async def claim_p99s(shallow: str, deep: str, claims: int) -> tuple[float, float]:
    """Claims on both queues in turns, so that a busy machine is as busy for the one as the other."""
    taken: tuple[list[float], list[float]] = ([], [])
    async with Database(shallow, pool_size=1) as first, Database(deep, pool_size=1) as second:
        for turn in range(claims + 20):
            for database, times in zip((first, second), taken, strict=True):
                found = await claim_ms(database, 10)
                if turn >= 20:
                    times.append(found)
    return quantiles(taken[0], n=100)[98], quantiles(taken[1], n=100)[98]


def depth_p99s(dsn: str, size: Size) -> tuple[float, float]:
    """Medians of three rounds, at both depths."""
    with own_database(dsn, "bench_shallow") as shallow, own_database(dsn, "bench_deep") as deep:
        asyncio.run(fill(shallow, size.shallow, "deep"))
        asyncio.run(fill(deep, size.deep, "deep"))
        rounds = [asyncio.run(claim_p99s(shallow, deep, size.claims)) for _ in range(3)]
    return median(first for first, _ in rounds), median(second for _, second in rounds)


def worn_rates(dsn: str, size: Size) -> tuple[float, float]:
    """Jobs per second on a fresh table, and on the same one after many completions."""
    with own_database(dsn) as own:
        asyncio.run(fill(own, size.batched, "first"))
        fresh = size.batched / run_workers(str(BATCH), own)
        asyncio.run(execute(own, FILL, size.wear, "wear"))
        run_workers(str(BATCH), own)
        asyncio.run(execute(own, FILL, size.batched, "last"))
        worn = size.batched / run_workers(str(BATCH), own)
        assert asyncio.run(count_done(own)) == size.wear + 2 * size.batched
        return fresh, worn


def measure_rates(dsn: str, size: Size) -> dict[str, float]:
    turns: dict[str, Callable[[], float]] = {
        "procrastinate": lambda: peer_rate(dsn, size.peer),
        "one by one": lambda: rate(dsn, "1", size.single),
        "runner": lambda: rate(dsn, "runner", size.batched),
        "batches": lambda: rate(dsn, str(BATCH), size.batched),
    }
    rates: dict[str, list[float]] = {}
    for _ in range(size.rounds):
        for name, turn in turns.items():
            found = turn()
            rates.setdefault(name, []).append(found)
            print(f"  {name:15}{found:10,.0f} jobs/s", flush=True)
    return {name: median(found) for name, found in rates.items()}


def judge(bars: list[Bar]) -> bool:
    for name, value, bar, kept in bars:
        print(f"{name:52}{value:8.2f} {bar:8} {'kept' if kept else 'BROKEN'}")
    return all(kept for *_, kept in bars)


def rate_bars(dsn: str, size: Size) -> list[Bar]:
    rates = measure_rates(dsn, size)
    over_peer = rates["batches"] / rates["procrastinate"]
    over_single = rates["batches"] / rates["one by one"]
    return [
        ("batches over procrastinate", over_peer, ">= 20", over_peer >= OVER_PROCRASTINATE),
        ("batches over one by one", over_single, ">= 10", over_single >= OVER_SINGLE),
    ]


def depth_bars(dsn: str, size: Size) -> list[Bar]:
    shallow, deep = depth_p99s(dsn, size)
    print(f"  claim p99 at {size.shallow:,} queued: {shallow:.2f} ms", flush=True)
    print(f"  claim p99 at {size.deep:,} queued: {deep:.2f} ms", flush=True)
    ratio = deep / shallow
    return [("claim p99, deep over shallow", ratio, "<= 2.0", ratio <= DEPTH_RATIO)]


def wear_bars(dsn: str, size: Size) -> list[Bar]:
    fresh, worn = worn_rates(dsn, size)
    print(f"  fresh {fresh:,.0f}, after {size.wear:,} completions {worn:,.0f} jobs/s", flush=True)
    return [("worn over fresh", worn / fresh, ">= 0.8", worn / fresh >= WORN)]


PARTS = {"rates": rate_bars, "depth": depth_bars, "wear": wear_bars}


def measure(size: Size, parts: list[str]) -> bool:
    with embedded_postgres() as (dsn, server):
        print(f"PostgreSQL {server.version}, {WORKERS} workers, batches of {BATCH}", flush=True)
        return judge([bar for part in parts for bar in PARTS[part](dsn, size)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", action="append", choices=sorted(PARTS), help="only this part")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if given.worker:
        be_worker(given.worker)
    elif not measure(QUICK if given.quick else FULL, given.only or list(PARTS)):
        sys.exit(1)


if __name__ == "__main__":
    main()
