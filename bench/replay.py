"""A replay of many snapshots: all cores, progress, stopped and resumed, nothing read twice.

Run as `python -m bench.replay` (`--pages 10000`). A simulated web is crawled by the full path and
its pages are extracted; then `messor replay` reads all of them anew in a process of its own, is
interrupted when a third is done (SIGINT, as Ctrl-C), and resumed. Exits 1 when a bar is broken.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field

import psutil
from bench.measure import cpu_seconds
from bench.messor_full import approve, crawl, settings_for
from bench.stage import Contender, Ground, Stage, embedded_postgres

from messor.crawl.worker import Worker
from messor.extraction import queue
from messor.store.database import Database
from simweb.process import WorldProcess

CORES_SHARE = 0.8  # of the machine's cores, while pages are read
_PROGRESS = re.compile(r"(\d+) of \d+ pages")
WAITING = "SELECT count(*) FROM messor.extraction_due"
FOUND = "SELECT count(*), count(DISTINCT page_id) FROM messor.records WHERE state = 'current'"


@dataclass
class Run:
    """One command from its start to its end."""

    code: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    told: list[str] = field(default_factory=list)
    tally: dict[str, int] = field(default_factory=dict)


def replay(ground: Ground, *options: str, until: int | None = None) -> Run:
    """`messor replay`; with `until`, interrupted once so many pages were told of."""
    environment = {
        **os.environ,
        "MESSOR_DATABASE_URL": ground.dsn or "",
        "MESSOR_DATA_DIR": ground.folder,
    }
    run, started = Run(), time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "messor", "replay", "--json", *options],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    watch = threading.Thread(target=_watch, args=(process, run))
    watch.start()
    interrupted = False
    for line in process.stderr:
        run.told.append(line.rstrip())
        numbers = _PROGRESS.findall(line)
        done = int(numbers[0]) if numbers else 0
        if until and done >= until and not interrupted:
            process.send_signal(signal.SIGINT)
            interrupted = True
    said = process.stdout.read()
    run.code = process.wait()
    run.seconds = time.monotonic() - started
    watch.join()
    run.tally = json.loads(said) if said.strip() else {}
    return run


def _watch(process: subprocess.Popen[str], run: Run) -> None:
    """The CPU of a process and its readers, as long as it can be read."""
    while process.poll() is None:
        try:
            run.cpu = max(run.cpu, cpu_seconds(process.pid))
        except psutil.Error:  # it has just ended
            return
        time.sleep(0.1)


async def fill(stage: Stage, ground: Ground) -> None:
    """Crawl all, and let nothing wait to be extracted."""
    job = stage.job(Contender("messor", ""), ground)
    assert ground.dsn is not None
    async with Database(ground.dsn) as database:
        await approve(database, job)
        await crawl(Worker(settings_for(job), database), job.pages + len(job.starts))
        await queue.catch_up(database)


async def ask(dsn: str, sql: str) -> tuple[int, ...]:
    async with Database(dsn, pool_size=1) as database:
        row = await database.fetchrow(sql)
        assert row is not None
        return tuple(row)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=10_000)
    wanted = parser.parse_args()
    with (
        embedded_postgres() as (dsn, status),
        WorldProcess("bench", hosts=20, pages=wanted.pages // 20) as web,
    ):
        assert status.pid is not None
        stage = Stage(web, dsn, status.pid, per_host=4)
        with stage.ground("schema") as ground:
            sys.exit(0 if judge(stage, ground) else 1)


def judge(stage: Stage, ground: Ground) -> bool:
    assert ground.dsn is not None
    print(f"crawling {stage.pages} pages …", file=sys.stderr)
    asyncio.run(fill(stage, ground))
    first = replay(ground, "--resume")
    before = asyncio.run(ask(ground.dsn, FOUND))
    print(f"extracted once in {first.seconds:.0f} s: {first.tally}", file=sys.stderr)
    broken = replay(ground, until=stage.pages // 3)
    (left,) = asyncio.run(ask(ground.dsn, WAITING))
    resumed = replay(ground, "--resume")
    (waiting,) = asyncio.run(ask(ground.dsn, WAITING))
    after = asyncio.run(ask(ground.dsn, FOUND))
    pages = broken.tally.get("pages", 0) + resumed.tally.get("pages", 0)
    cores = len(os.sched_getaffinity(0))
    used = resumed.cpu / resumed.seconds / cores
    lines = [
        (
            f"replay of {stage.pages} pages: read {pages} in two goes, each once",
            pages == stage.pages,
        ),
        (
            f"stopped at {broken.tally.get('pages', 0)} with {left} left, exit {broken.code}",
            left > 0,
        ),
        (f"resumed: nothing waits ({waiting}), exit {resumed.code}", waiting == resumed.code == 0),
        (f"records {before} before, {after} after", before == after),
        (f"progress was told {len(resumed.told)} times", len(resumed.told) > 2),
        (f"readers used {used:.0%} of {cores} cores (bar {CORES_SHARE:.0%})", used >= CORES_SHARE),
    ]
    for text, kept in lines:
        print(f"{'kept  ' if kept else 'BROKEN'}  {text}")
    print(f"        {stage.pages / max(resumed.seconds, 0.1):.0f} pages/s at most in the second go")
    return all(kept for _, kept in lines)


if __name__ == "__main__":
    main()
