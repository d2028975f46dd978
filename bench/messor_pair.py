"""Messor's full path in as many processes as the options say, over one database and one web.

The first process only counts: each of the others tells it how many pages it brought, and goes on
until its input ends.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import asdict
from typing import Any

import uvloop
from bench.contender import Job, read_job, ready, report
from bench.messor_full import STALL_SECONDS, approve, settings_for

from messor.crawl.worker import Worker
from messor.fetch.outcome import Outcome
from messor.store.database import Database

_TELL_SECONDS = 0.02
_SHARE = "share"  # the argument of the processes that crawl


async def main(job: Job) -> dict[str, Any]:
    assert job.dsn is not None
    async with Database(job.dsn) as database:
        await approve(database, job)
        shares = [await _Share.start(job) for _ in range(int(job.options[0]))]
        ready()
        for share in shares:
            share.go()
        # Every host is asked for its robots.txt, too.
        await _brought(shares, job.pages + len(job.starts))
        for share in shares:
            await share.end()
        pages = await database.fetchval("SELECT count(*) FROM messor.page_snapshots")
        parts = {f"share_{number}": share.pages for number, share in enumerate(shares)}
        return {"pages": pages, **parts}


async def _brought(shares: list[_Share], expected: int) -> None:
    """Until all pages are there, or no more come."""
    last, since = 0, time.monotonic()
    while (done := sum(share.pages for share in shares)) < expected:
        if done > last:
            last, since = done, time.monotonic()
        if time.monotonic() - since > STALL_SECONDS:
            return
        await asyncio.sleep(_TELL_SECONDS)


class _Share:
    """One process that crawls, as seen by the one that counts."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._listening: asyncio.Task[None] | None = None
        self.pages = 0

    @classmethod
    async def start(cls, job: Job) -> _Share:
        """Start a process, and wait until it has done its imports."""
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bench.messor_pair", _SHARE, stdin=pipe, stdout=pipe
        )
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{json.dumps(asdict(job))}\n".encode())
        await process.stdout.readline()
        return cls(process)

    def go(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(b"go\n")
        self._listening = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            self.pages = int(line)

    async def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()
        assert self._listening is not None
        await self._listening


async def crawl_share(job: Job) -> None:
    """Crawl until the input ends, and tell how far it has come."""
    assert job.dsn is not None
    async with Database(job.dsn) as database:
        worker = Worker(settings_for(job), database)
        _tell("ready")
        await asyncio.to_thread(sys.stdin.readline)
        ended = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
        running, told = asyncio.create_task(worker.run()), -1
        while not ended.done() and not running.done():
            if worker.outcomes[Outcome.OK] != told:
                told = worker.outcomes[Outcome.OK]
                _tell(str(told))
            await asyncio.sleep(_TELL_SECONDS)
        worker.stop()
        await running


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    given = read_job()
    if sys.argv[1:] == [_SHARE]:
        uvloop.run(crawl_share(given))
    else:
        report(**uvloop.run(main(given)))
