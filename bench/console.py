"""How quickly the console and the API answer when there is much: lists, the overview, live events.

Run as `python -m bench.console` (`--quick` for a twentieth of it), on an embedded PostgreSQL that is
thrown away afterwards; `--keep FOLDER` seeds that folder once and uses it again. Both doors are
served by a process of their own, as `messor up` does, and asked one page at a time by somebody who
is logged in. A page that asks the database for next to nothing is the floor of the run; who
measures and is measured goes before other processes, where the system permits that. Exits 1 when a
bar is broken.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from subprocess import PIPE, Popen
from urllib.parse import urlsplit

import aiohttp
import asyncpg
import uvloop
from bench.console_pages import FLOOR, Asked, asked_pages
from bench.console_seed import FULL, QUICK, Size, seed
from bench.measure import busy_seconds, cpu_seconds, prefer
from bench.stage import ROOT, expect, tell

from messor.access import members, sessions
from messor.access.origin import Origin
from messor.access.principal import LOCAL_ADMIN
from messor.access.roles import Role
from messor.access.sessions import Lifetimes
from messor.cli.serve import WebServer
from messor.console.cookies import SESSION
from messor.fetch import rollups
from messor.ledger.events import Event, record
from messor.settings import Settings
from messor.store import migrate
from messor.store.database import Database
from messor.store.server import EmbeddedServer

MOST_MS = 100.0
MOST_QUERIES = 12
MOST_EVENT_MS = 1_000.0
EVENTS = 50
ROUNDS = 3
READY_SECONDS = 60.0
TIMES = {True: 10, False: 30}  # that a page is asked for in a round; quick or not


@dataclass
class Measured:
    """What came of asking for one page many times."""

    asked: Asked
    queries: int = 0
    cpu_ms: list[float] = field(default_factory=list)  # of the doors and PostgreSQL, by round
    wall_ms: list[float] = field(default_factory=list)

    @property
    def p95(self) -> float:
        return sorted(self.wall_ms)[int(len(self.wall_ms) * 0.95)]

    @property
    def is_kept(self) -> bool:
        return self.p95 <= MOST_MS and self.queries <= MOST_QUERIES

    def line(self) -> str:
        verdict = "floor" if self.asked is FLOOR else "kept" if self.is_kept else "BROKEN"
        return (
            f"{self.asked.name:44}{self.queries:4}{median(self.wall_ms):9.1f}{self.p95:9.1f}"
            f"{max(self.wall_ms):9.1f}{min(self.cpu_ms):9.1f}  {verdict}"
        )


HEAD = f"{'page':44}{'ask':>4}{'p50 ms':>9}{'p95 ms':>9}{'max ms':>9}{'CPU ms':>9}"


# The doors, in a process of their own -------------------------------------------------------------


async def serve(dsn: str) -> None:
    """Serve until the input ends; each line of it is answered with the round trips so far."""
    settings = Settings(
        data_dir=Path(tempfile.gettempdir()),
        listen_port=0,
        api_requests_per_minute=1_000_000,
        console_requests_per_minute=1_000_000,
        console_stranger_requests_per_minute=1_000_000,
    )
    async with Database(dsn, pool_size=8) as database:
        doors = WebServer(settings, database)
        running = asyncio.create_task(doors.run())
        await until_open(doors.url)
        print(json.dumps({"url": doors.url}), flush=True)
        while await asyncio.to_thread(sys.stdin.readline):
            print(database.round_trips, flush=True)
        doors.stop()
        await running


async def until_open(url: str) -> None:
    """The port is taken before anybody listens on it."""
    place = urlsplit(url)
    async with asyncio.timeout(READY_SECONDS):
        while True:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection(place.hostname, place.port)
                writer.close()
                return
            await asyncio.sleep(0.05)


@contextlib.contextmanager
def served(dsn: str) -> Iterator[tuple[Popen[str], str]]:
    command = [sys.executable, "-m", "bench.console", "--serve", dsn]
    with Popen(command, cwd=ROOT, stdin=PIPE, stdout=PIPE, text=True) as process:
        try:
            yield process, json.loads(expect(process, READY_SECONDS))["url"]
        finally:
            assert process.stdin is not None
            process.stdin.close()


def round_trips(process: Popen[str]) -> int:
    tell(process, "?")
    return int(expect(process, READY_SECONDS))


# Asking -------------------------------------------------------------------------------------------


async def log_in(dsn: str) -> str:
    """The cookie of an admin's session."""
    async with Database(dsn) as database, database.transaction() as connection:
        member = await members.create(
            connection,
            email=f"bench-{time.time_ns()}@example.org",
            name="Bench",
            role=Role.ADMIN,
            by=LOCAL_ADMIN,
        )
        opened = await sessions.open_session(
            connection,
            member,
            opened_by="password",
            origin=Origin("127.0.0.1", "bench"),
            lifetimes=Lifetimes(),
        )
        return opened.token.reveal()


class Asker:
    """Asks for pages, one at a time."""

    def __init__(
        self, session: aiohttp.ClientSession, process: Popen[str], postmaster: int
    ) -> None:
        self._session = session
        self._process = process
        self._postmaster = postmaster

    async def get(self, path: str) -> float:
        """How many milliseconds it took to the last byte."""
        began = time.perf_counter()
        async with self._session.get(path, allow_redirects=False) as answer:
            body = await answer.read()
        took = (time.perf_counter() - began) * 1000
        if answer.status != 200:
            raise SystemExit(f"{path} answered {answer.status}: {body[:300]!r}")
        return took

    async def measure(self, one: Measured, times: int) -> None:
        await self.get(one.asked.path)
        before = round_trips(self._process)
        await self.get(one.asked.path)
        one.queries = max(one.queries, round_trips(self._process) - before)
        cpu = self._cpu()
        one.wall_ms += [await self.get(one.asked.path) for _ in range(times)]
        one.cpu_ms.append((self._cpu() - cpu) * 1000 / times)

    def _cpu(self) -> float:
        return cpu_seconds(self._process.pid) + cpu_seconds(self._postmaster)


async def measure_pages(asker: Asker, pages: list[Asked], times: int) -> list[Measured]:
    found = [Measured(page) for page in pages]
    for number in range(ROUNDS):
        for one in found:
            await asker.measure(one, times)
        print(f"  round {number + 1} of {ROUNDS}", file=sys.stderr, flush=True)
    return found


async def measure_events(session: aiohttp.ClientSession, dsn: str) -> list[float]:
    """Milliseconds from an event's commit until an open overview has it."""
    found = []
    async with Database(dsn) as database, session.get("/live") as stream:
        await _read_until(stream, b"\n\n")
        for number in range(EVENTS):
            mark = f"bench event {number} {time.time_ns()}"
            async with database.transaction() as connection:
                await record(connection, [Event("page.flagged", "bench", data={"reason": mark})])
            began = time.perf_counter()
            await _read_until(stream, mark.encode())
            found.append((time.perf_counter() - began) * 1000)
            await asyncio.sleep(0.05 + number % 7 / 10)  # at no steady beat
    return found


async def _read_until(stream: aiohttp.ClientResponse, mark: bytes) -> None:
    seen = b""
    async with asyncio.timeout(30):
        while mark not in seen:
            seen = seen[-len(mark) :] + await stream.content.readany()


# The whole ----------------------------------------------------------------------------------------


async def prepare(dsn: str, size: Size) -> None:
    """Seed a database once, and roll its log up as the sweeper does."""
    async with Database(dsn) as database:
        is_seeded = await database.fetchval("SELECT EXISTS (SELECT FROM messor.pages)")
    if not is_seeded:
        await seed(dsn, size)
    async with Database(dsn) as database:
        print("  rolling up", file=sys.stderr, flush=True)
        more = True
        while more:
            async with database.transaction() as transaction:
                more = await rollups.roll_up(transaction)
    connection = await asyncpg.connect(dsn, ssl=False)
    try:
        await connection.execute("VACUUM ANALYZE messor.fetch_days", timeout=600)
    finally:
        await connection.close()


async def run(dsn: str, postmaster: int, *, quick: bool, only: str) -> bool:
    prefer(postmaster)  # backends that start from now on inherit it
    pages = [page for page in await asked_pages(dsn) if only in page.name or page is FLOOR]
    token = await log_in(dsn)
    with served(dsn) as (process, url):
        prefer(process.pid)
        prefer(os.getpid())
        jar = aiohttp.CookieJar(unsafe=True)
        async with aiohttp.ClientSession(url, cookie_jar=jar, cookies={SESSION: token}) as session:
            asker = Asker(session, process, postmaster)
            machine, began = busy_seconds(), time.monotonic()
            found = await measure_pages(asker, pages, TIMES[quick])
            busy = (busy_seconds() - machine) / (time.monotonic() - began)
            events = await measure_events(session, dsn)
    return judge(found, events, busy)


def judge(found: list[Measured], events: list[float], busy: float) -> bool:
    print(HEAD)
    for one in found:
        print(one.line())
    is_live = max(events) <= MOST_EVENT_MS
    print(
        f"{'event to open page':48}{median(events):9.1f}{sorted(events)[int(EVENTS * 0.95)]:9.1f}"
        f"{max(events):9.1f}{'':9}  {'kept' if is_live else 'BROKEN'}"
    )
    broken = [one for one in found if not one.is_kept and one.asked is not FLOOR]
    print(f"{len(found) - len(broken)} of {len(found)} pages kept; {busy:.1f} cores were busy")
    return is_live and not broken


@contextlib.contextmanager
def folder_of(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="messor-bench-") as folder:
        yield Path(folder)


def measure(size: Size, keep: Path | None, only: str) -> bool:
    with folder_of(keep) as folder:
        server = EmbeddedServer(folder)
        dsn = server.acquire()
        try:
            migrate.upgrade(dsn)
            uvloop.run(prepare(dsn, size))
            status = server.status()
            assert status.pid is not None
            print(
                f"PostgreSQL {status.version}: {size.domains:,} domains, {size.pages:,} pages, "
                f"{size.fetches:,} fetches",
                flush=True,
            )
            return uvloop.run(run(dsn, status.pid, quick=size is QUICK, only=only))
        finally:
            server.release()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--keep", type=Path, help="seed this folder once, and use it again")
    parser.add_argument("--only", default="", help="only pages whose name has this in it")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        uvloop.run(serve(given.serve))
    elif not measure(QUICK if given.quick else FULL, given.keep, given.only):
        sys.exit(1)


if __name__ == "__main__":
    main()
