"""What signing costs: the share of a worker's CPU that goes into signatures, while it crawls.

The web is a process of its own. Once each host has many pages, so that its signature is reused;
that is the bar. Once it has ten, so that one request in ten needs a signature of its own. Exits 1
above the bar.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from tempfile import TemporaryDirectory
from typing import Any

from bench.contender import Job
from bench.messor_full import approve, crawl, settings_for
from bench.stage import embedded_postgres

from messor.crawl.worker import Worker
from messor.fetch.client import Client
from messor.store import migrate
from messor.store.database import Database
from simweb.process import WorldProcess

MOST_PER_CENT = 3.0


async def share(dsn: str, web: WorldProcess, folder: str, pages: int) -> tuple[float, int]:
    """Per cent of the CPU time that went into signing, and how often it was asked for."""
    spent = [0.0, 0.0]
    sign = Client._signed  # noqa: SLF001 - it is what is measured

    def timed(self: Client, *given: Any) -> bytes:
        began = time.thread_time()
        try:
            return sign(self, *given)
        finally:
            spent[0] += time.thread_time() - began
            spent[1] += 1

    starts = [f"http://{name.removesuffix(':80')}/" for name in web.names]
    job = Job(starts, web.names, pages, 1, None, folder, dsn, [])
    Client._signed = timed  # type: ignore[method-assign, assignment] # noqa: SLF001
    try:
        async with Database(dsn) as database:
            await approve(database, job)
            settings = settings_for(job, identity_url="https://bot.example", browser="off")
            before = time.process_time()
            await crawl(Worker(settings, database), pages)
            busy = time.process_time() - before
    finally:
        Client._signed = sign  # type: ignore[method-assign] # noqa: SLF001
    return 100 * spent[0] / busy, int(spent[1])


def measure(hosts: int, pages: int) -> float:
    with (
        WorldProcess("bench", hosts=hosts, pages=pages) as web,
        embedded_postgres() as (dsn, _),
        TemporaryDirectory(prefix="messor-bench-") as folder,
    ):
        migrate.upgrade(dsn)
        found, requests = asyncio.run(share(dsn, web, folder, hosts * pages))
    print(f"{hosts} hosts of {pages} pages: {found:.2f} % of the CPU in {requests} signed requests")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=4_000, help="Pages of each run.")
    given = parser.parse_args()
    usual = measure(20, given.pages // 20)
    measure(given.pages // 10, 10)
    if usual > MOST_PER_CENT:
        print(f"More than {MOST_PER_CENT:g} %.")
        sys.exit(1)


if __name__ == "__main__":
    main()
