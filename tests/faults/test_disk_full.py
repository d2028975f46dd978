"""A disk that fills while Messor crawls and extracts, and is enlarged: on a real, small file system.

Nothing is lost or torn, no process ends, the console stays readable and says so, and work goes on by
itself within a minute.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from chaos import archive
from messor.governance import admission
from messor.ledger import alarms
from messor.registry import domains
from messor.registry.domains import Submission
from messor.settings import Settings
from messor.store.database import Database
from messor.store.session import open_session
from simweb import SimResponse
from simweb.documents import HTML
from tests.crawling import eventually, until
from tests.little_web import LittleWeb

PAGES = 60
PATIENCE = 90.0
RESUMED_SECONDS = 60.0


def may_mount() -> bool:
    return os.geteuid() == 0 and shutil.which("mount") is not None


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own; where none can be mounted, the test cannot be made."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=500m", "none", str(place)]
    if not may_mount() or subprocess.run(command, check=False).returncode:
        pytest.skip("mounting a small file system needs root: sudo make test")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False)


def resize(disk: Path, size: str) -> None:
    subprocess.run(["mount", "-o", f"remount,size={size}", str(disk)], check=True)


def fill(disk: Path, leave: int) -> None:
    """Leave so many bytes."""
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    with contextlib.suppress(OSError), (disk / "filler").open("wb") as file:
        for _ in range(max(free - leave, 0) // 4096):
            file.write(b"x" * 4096)


def weighty(number: int) -> SimResponse:
    """A page of some 300 KB that hardly shrinks, with something to extract."""
    words = random.Random(number)
    text = " ".join(f"{words.getrandbits(40):x}" for _ in range(25_000))
    links = "".join(f'<a href="/p{n}">p{n}</a> ' for n in range(PAGES)) if number == 0 else ""
    body = (
        f"<html><head><title>Page {number}</title></head><body><h1>Page {number}</h1>{links}"
        f"<p>Write to info{number}@one.test.</p><p>{text}</p></body></html>"
    )
    return SimResponse(200, (("Content-Type", HTML),), body.encode())


def environment(settings: Settings) -> dict[str, str]:
    networks = settings.allowed_networks.model_dump_json()
    return {
        **os.environ,
        "MESSOR_DATA_DIR": str(settings.data_dir),
        "MESSOR_ALLOWED_NETWORKS": networks,
        "MESSOR_CONTACT": settings.contact,
        "MESSOR_BROWSER": "off",
        "MESSOR_LISTEN_PORT": "0",
        "MESSOR_DEFAULT_DELAY": "0.1",
        "MESSOR_MIN_FREE_DISK": "64MB",  # the server makes files of 16 MB
    }


class Running:
    """A command of Messor as a process, its words in a file that lies elsewhere."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process = process
        self._log = log

    @property
    def said(self) -> str:
        return self._log.read_text()

    @property
    def url(self) -> str:
        return self.said.split("Console: ")[1].split()[0]

    @property
    def workers(self) -> list[int]:
        """The processes it started."""
        path = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        return [int(pid) for pid in Path(path).read_text().split()]


def start(log: Path, variables: dict[str, str], *words: str) -> subprocess.Popen[bytes]:
    with log.open("wb") as file:
        command = [sys.executable, "-m", "messor", *words]
        return subprocess.Popen(command, env=variables, stderr=file, cwd=log.parent)


@asynccontextmanager
async def started(
    settings: Settings, folder: Path, *words: str, **more: str
) -> AsyncIterator[Running]:
    log = folder / "messor.log"
    process = start(log, {**environment(settings), **more}, *words)
    made = Running(process, log)
    try:
        await until(lambda: "is running" in made.said, PATIENCE)
        yield made
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            await asyncio.to_thread(process.wait, 60)
        finally:
            process.kill()


async def are_all_good(database: Database) -> bool:
    count: int = await database.fetchval(
        "SELECT count(*) FROM messor.crawl_tasks WHERE outcome = 'ok' AND kind = 'page'"
    )
    return count == PAGES + 1


async def is_told(database: Database) -> bool:
    return any(alarm.name == "disk" for alarm in await alarms.standing(database))


async def is_extracted(database: Database) -> bool:
    return not await database.fetchval("SELECT count(*) FROM messor.extraction_due")


async def admit(database: Database, url: str) -> None:
    async with database.transaction() as connection:
        submission = Submission.understand(url)
        domain, _ = await domains.submit(connection, submission, actor="tester")
        await domains.configure(connection, domain, actor="tester", delay=0.1)
        await admission.approve(connection, domain, actor="tester")


@pytest.mark.parametrize(
    "leave",
    [
        pytest.param(40_000_000, id="below the watermark", marks=pytest.mark.wide),
        pytest.param(0, id="to the last byte"),
    ],
)
async def test_everything_on_one_disk_that_fills_and_grows(
    disk: Path, tmp_path: Path, leave: int
) -> None:
    rooms = {"/": weighty(0), **{f"/p{n}": weighty(n + 1) for n in range(PAGES)}}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        settings = web.settings(data_dir=disk / "data")
        command = started(settings, tmp_path, "up", "--workers", "1")
        async with open_session(settings) as session, command as running:
            database = session.database
            await admit(database, "http://one.test/")
            await until(lambda: len(web.requests("one.test")) > 15)
            before = running.workers
            fill(disk, leave)
            await until(lambda: "Fetching and extracting are paused" in running.said)
            await asyncio.sleep(3)  # pages under way come to an end
            asked = len(web.requests("one.test"))
            await asyncio.sleep(5)
            assert len(web.requests("one.test")) <= asked + 1
            await _assert_readable(running, database, leave)
            resize(disk, "1g")
            enlarged = time.monotonic()
            await until(lambda: len(web.requests("one.test")) > asked + 1, RESUMED_SECONDS)
            assert time.monotonic() - enlarged <= RESUMED_SECONDS
            await eventually(lambda: are_all_good(database), PATIENCE)
            assert running.process.poll() is None
            assert running.workers == before
            await _assert_whole(database, settings)
            await until(lambda: "There is enough disk space again" in running.said)


@pytest.mark.wide
async def test_a_workers_archive_on_a_small_disk_that_fills_and_grows(
    disk: Path, tmp_path: Path, database: Database, dsn: str
) -> None:
    """The database lies elsewhere; the worker runs without `messor up`."""
    resize(disk, "24m")
    rooms = {"/": weighty(0), **{f"/p{n}": weighty(n + 1) for n in range(PAGES)}}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        settings = web.settings(data_dir=disk)
        more = {"MESSOR_DATABASE_URL": dsn, "MESSOR_MIN_FREE_DISK": "1%"}
        async with started(settings, tmp_path, "worker", **more) as running:
            await admit(database, "http://one.test/")
            await until(lambda: len(web.requests("one.test")) > 10)
            fill(disk, 0)
            await until(lambda: "Fetching and extracting are paused" in running.said)
            await asyncio.sleep(3)
            asked = len(web.requests("one.test"))
            resize(disk, "200m")
            await until(lambda: len(web.requests("one.test")) > asked, RESUMED_SECONDS)
            await eventually(lambda: are_all_good(database), PATIENCE)
            assert running.process.poll() is None
            assert_segments_whole(settings)
    assert await database.fetchval("SELECT count(*) FROM messor.page_snapshots") == PAGES + 1


async def _assert_readable(running: Running, database: Database, leave: int) -> None:
    async with aiohttp.ClientSession() as client:
        async with client.get(f"{running.url}/login") as answer:
            assert answer.status == 200
        async with client.get(f"{running.url}/api/v1/health/live") as answer:
            assert answer.status == 200
    if leave:  # the database can still write
        await eventually(lambda: is_told(database), 30)


async def _assert_whole(database: Database, settings: Settings) -> None:
    """Each page has its snapshot, each snapshot its record, and segments hold whole records alone."""
    await eventually(lambda: is_extracted(database), PATIENCE)
    records = await database.fetchval(
        "SELECT count(DISTINCT page_id) FROM messor.records WHERE state = 'current'"
    )
    assert records >= PAGES
    assert_segments_whole(settings)


def assert_segments_whole(settings: Settings) -> None:
    (readable, _) = archive.judge(settings.data_dir / "archive", [])
    assert readable.ok, readable
