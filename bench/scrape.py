"""How fast `/v2/scrape` answers from the archive: four clients, pages met once and met again.

    python -m bench.scrape

The server is a process of its own, as in `messor up`; the clients share another. Every page is asked for once
before it is in the server's memory (cold), then again (warm). It says how busy the machine was.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import aiohttp
import psutil
from tests.conftest import settings_for
from tests.crawling import admit, idle

from messor.access import keys, members
from messor.access.principal import LOCAL_ADMIN
from messor.access.roles import Role, key_acts_of
from messor.crawl.worker import Worker
from messor.settings import Settings
from messor.store.database import Database
from messor.store.session import open_session
from simweb import WorldProcess

CLIENTS = 4
SECONDS = 10.0
PAGES = 300


async def prepare(settings: Settings, host: str) -> tuple[str, list[str]]:
    """Crawl one site, and make a key."""
    async with open_session(settings, pool_size=8) as session:
        database: Database = session.database
        await admit(database, f"http://{host}/", max_crawl_depth=5)
        worker = Worker(settings, database)
        running = asyncio.create_task(worker.run())
        await idle(database, 600.0)
        worker.stop()
        await running
        async with database.transaction() as connection:
            member = await members.create(
                connection, email="bench@example.org", name="B", role=Role.REVIEWER, by=LOCAL_ADMIN
            )
            _, secret = await keys.create(
                connection, member, name="b", scopes=key_acts_of(Role.REVIEWER), by=LOCAL_ADMIN
            )
        rows = await database.fetch(
            "SELECT p.url FROM messor.crawl_tasks t JOIN messor.pages p ON p.id = t.page_id "
            "WHERE t.kind = 'page' AND t.outcome = 'ok' AND t.snapshot_id IS NOT NULL "
            "ORDER BY p.id LIMIT $1",
            PAGES,
        )
        return secret.reveal(), [row["url"] for row in rows]


async def ask(base: str, key: str, urls: list[str], seconds: float | None) -> dict[str, Any]:
    """Four clients ask, each for its own part of the pages; once, or again and again for a time."""
    took: list[float] = []
    until = None if seconds is None else time.perf_counter() + seconds
    headers = {"Authorization": f"Bearer {key}"}

    async def client(own: list[str]) -> None:
        async with aiohttp.ClientSession(base, headers=headers) as session:
            while True:
                for url in own:
                    began = time.perf_counter()
                    async with session.post("/v2/scrape", json={"url": url}) as reply:
                        body = await reply.read()
                        assert reply.status == 200, body[:300]
                    took.append(time.perf_counter() - began)
                    if until is not None and time.perf_counter() > until:
                        return
                if until is None:
                    return

    began = time.perf_counter()
    await asyncio.gather(*(client(urls[n::CLIENTS]) for n in range(CLIENTS)))
    wall = time.perf_counter() - began
    cuts = statistics.quantiles(took, n=100)
    return {
        "answers": len(took),
        "per_second": round(len(took) / wall, 1),
        "p50_ms": round(cuts[49] * 1000, 2),
        "p95_ms": round(cuts[94] * 1000, 2),
    }


async def measure() -> dict[str, Any]:
    with WorldProcess("demo") as world, tempfile.TemporaryDirectory() as folder:
        host = next(iter(world.names)).partition(":")[0]
        settings = settings_for(
            world, Path(folder), default_delay=0.0, api_requests_per_minute=1_000_000,
            listen_port=0, browser="off",
        )  # fmt: skip
        port = 18_000 + os.getpid() % 2_000
        environment = {
            **os.environ,
            "MESSOR_DATA_DIR": folder,
            "MESSOR_CONTACT": settings.contact,
            "MESSOR_LISTEN_PORT": str(port),
            "MESSOR_API_REQUESTS_PER_MINUTE": "1000000",
        }
        async with open_session(settings):
            key, urls = await prepare(settings, host)
            serving = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "messor", "up", "--workers", "0", env=environment,
                stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
            )  # fmt: skip
            base = f"http://127.0.0.1:{port}"
            try:
                await _reachable(base)
                await ask(base, key, urls[:CLIENTS], None)  # what a process does but once
                before = _cpu_seconds(serving.pid)
                cold = await ask(base, key, urls[CLIENTS:], None)
                between = _cpu_seconds(serving.pid)
                warm = await ask(base, key, urls, SECONDS)
                after = _cpu_seconds(serving.pid)
                cold["server_cpu_ms"] = _each(between - before, cold)
                warm["server_cpu_ms"] = _each(after - between, warm)
            finally:
                serving.terminate()
                await serving.wait()
        return {
            "pages": len(urls), "clients": CLIENTS, "cold": cold, "warm": warm,
            "load_average": os.getloadavg()[0], "cores": os.cpu_count(),
        }  # fmt: skip


def _cpu_seconds(pid: int) -> float:
    """CPU time of the server's processes, without PostgreSQL's."""
    family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    own = [each for each in family if "postgres" not in each.name()]
    return sum(sum(each.cpu_times()[:2]) for each in own)


def _each(seconds: float, measured: dict[str, Any]) -> float:
    """Milliseconds per answer, which other work on the machine hardly changes."""
    return round(seconds * 1000 / int(measured["answers"]), 2)


async def _reachable(base: str) -> None:
    async with asyncio.timeout(120), aiohttp.ClientSession(base) as session:
        while True:
            try:
                async with session.get("/healthz") as reply:
                    if reply.status == 200:
                        return
            except aiohttp.ClientConnectionError:
                pass
            await asyncio.sleep(0.2)


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure()), indent=2))
