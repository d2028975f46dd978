"""The stage: a simulated web and an embedded PostgreSQL, both thrown away afterwards, and the
measured run of contenders on them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import asyncpg
from bench.contender import Job
from bench.measure import ServerReading, busy_seconds, cpu_seconds, peak_rss, read_server

from messor.store import migrate
from messor.store.dsn import with_database
from messor.store.server import EmbeddedServer, ServerStatus
from simweb.process import WorldProcess

ROOT = Path(__file__).resolve().parent.parent
READY_SECONDS = 120.0
RUN_SECONDS = 1200.0


@dataclass(frozen=True)
class Contender:
    """A program of this folder; `database` is what it needs: nothing, an empty one, the schema."""

    name: str
    module: str
    options: list[str] = field(default_factory=list)
    database: str = "none"  # none, empty, schema


@dataclass(frozen=True)
class Result:
    """One measured run."""

    pages: int
    seconds: float
    client_cpu: float
    postgres_cpu: float
    web_cpu: float
    other_cpu: float  # of processes that are no part of the benchmark
    wal: int
    peak_rss: int
    figures: dict[str, float]  # what the contender says of itself

    @property
    def pages_per_second(self) -> float:
        return self.pages / self.seconds

    @property
    def client_ms(self) -> float:
        return self.client_cpu * 1000 / self.pages

    @property
    def postgres_ms(self) -> float:
        return self.postgres_cpu * 1000 / self.pages

    @property
    def web_ms(self) -> float:
        return self.web_cpu * 1000 / self.pages

    @property
    def cpu_ms(self) -> float:
        return self.client_ms + self.postgres_ms

    @property
    def wal_kb(self) -> float:
        return self.wal / 1000 / self.pages

    @property
    def round_trips(self) -> float:
        return self.figures.get("round_trips", 0) / self.pages

    @property
    def other_cores(self) -> float:
        """Cores taken by strangers meanwhile: the larger, the less the run is worth."""
        return max(0.0, self.other_cpu) / self.seconds

    @property
    def rss_mb(self) -> float:
        return self.peak_rss / 1e6


@dataclass(frozen=True)
class Reading:
    """What everybody has used up so far; reading takes a moment, from one time to another."""

    began_at: float
    ended_at: float
    client: float
    web: float
    server: ServerReading
    machine: float

    def until(
        self, later: Reading, *, pages: int, peak_rss: int, figures: dict[str, float], stored: bool
    ) -> Result:
        """What a run took from here to there; PostgreSQL's part counts for those who store."""
        client, web = later.client - self.client, later.web - self.web
        postgres = later.server.cpu - self.server.cpu
        return Result(
            pages=pages,
            seconds=later.began_at - self.ended_at,
            client_cpu=client,
            postgres_cpu=postgres if stored else 0.0,
            web_cpu=web,
            other_cpu=later.machine - self.machine - client - web - postgres,
            wal=later.server.wal - self.server.wal if stored else 0,
            peak_rss=peak_rss,
            figures=figures,
        )


@dataclass(frozen=True)
class Ground:
    """Where a contender leaves things."""

    folder: str
    dsn: str | None


class FailedRunError(Exception):
    """A contender did not bring what it was sent for."""


class Stage:
    """Runs contenders against one simulated web, one after the other."""

    def __init__(self, web: WorldProcess, dsn: str, postmaster: int, *, per_host: int) -> None:
        self._web = web
        self._dsn = dsn
        self._postmaster = postmaster
        self._per_host = per_host
        self.pages = sum(site["pages"] for site in web.sites)

    def run(self, contender: Contender) -> Result:
        with self.ground(contender.database) as ground:
            return self.measure(contender, ground)

    @contextlib.contextmanager
    def ground(self, database: str) -> Iterator[Ground]:
        with (
            TemporaryDirectory(prefix="messor-bench-run-") as folder,
            self._database(database) as dsn,
        ):
            yield Ground(folder, dsn)

    def job(self, contender: Contender, ground: Ground) -> Job:
        return Job(
            starts=[site["start_url"] for site in self._web.sites],
            names=self._web.names,
            pages=self.pages,
            per_host=self._per_host,
            ca_file=self._web.ca_file,
            folder=ground.folder,
            dsn=ground.dsn,
            options=contender.options,
        )

    def read(self, pid: int) -> Reading:
        """The clocks of the contender with that process, and of all others."""
        began_at = time.monotonic()
        server = asyncio.run(read_server(self._dsn, self._postmaster))
        client, web, machine = cpu_seconds(pid), cpu_seconds(self._web.pid), busy_seconds()
        return Reading(began_at, time.monotonic(), client, web, server, machine)

    def measure(self, contender: Contender, ground: Ground) -> Result:
        """One run from its start to its report."""
        job = self.job(contender, ground)
        with child(contender.module) as process:
            tell(process, job.to_json())
            expect(process, READY_SECONDS)
            before = self.read(process.pid)
            tell(process, "go")
            said: dict[str, Any] = json.loads(expect(process, RUN_SECONDS))
            after = self.read(process.pid)
            peak = peak_rss(process.pid)
        pages = int(said.pop("pages"))
        if pages != job.pages:
            raise FailedRunError(f"{contender.name} brought {pages} of {job.pages} pages")
        return before.until(
            after, pages=pages, peak_rss=peak, figures=said, stored=job.dsn is not None
        )

    @contextlib.contextmanager
    def _database(self, kind: str) -> Iterator[str | None]:
        """A database of its own, dropped afterwards: nobody vacuums after another."""
        if kind == "none":
            yield None
            return
        name = "bench_run"
        asyncio.run(_execute(self._dsn, f"CREATE DATABASE {name}"))
        dsn = with_database(self._dsn, name)
        try:
            if kind == "schema":
                migrate.upgrade(dsn)
            yield dsn
        finally:
            asyncio.run(_execute(self._dsn, f"DROP DATABASE {name} WITH (FORCE)"))


@contextlib.contextmanager
def embedded_postgres() -> Iterator[tuple[str, ServerStatus]]:
    """The DSN of a server in a folder of its own, and what it says of itself."""
    with TemporaryDirectory(prefix="messor-bench-") as folder:
        server = EmbeddedServer(Path(folder))
        dsn = server.acquire()
        try:
            yield dsn, server.status()
        finally:
            server.release()


@contextlib.contextmanager
def child(module: str) -> Iterator[subprocess.Popen[str]]:
    """A contender's process; it ends when its input does."""
    process = subprocess.Popen(
        [sys.executable, "-m", module],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process
    finally:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def tell(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def expect(process: subprocess.Popen[str], seconds: float) -> str:
    assert process.stdout is not None
    arrived, _, _ = select.select([process.stdout], [], [], seconds)
    if not arrived:
        raise FailedRunError(f"{_module(process)} said nothing for {seconds:.0f} s")
    line = process.stdout.readline()
    if not line:
        raise FailedRunError(f"{_module(process)} ended early with code {process.wait(10)}")
    return line


def _module(process: subprocess.Popen[str]) -> str:
    assert isinstance(process.args, list)
    return str(process.args[-1])


async def _execute(dsn: str, sql: str) -> None:
    connection = await asyncpg.connect(dsn, ssl=False)
    try:
        await connection.execute(sql)
    finally:
        await connection.close()
