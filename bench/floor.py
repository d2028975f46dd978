"""The floor: Messor's libraries with nothing between them.

Fetch, parse, links, title and markdown, one COPY per 200 pages; no politeness, no robots.txt, no
archive, no hashes, no decisions, no crash safety. With `--no-markdown` only links and titles.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Iterable

import ada_url
import aiohttp
import asyncpg
import turbohtml
import uvloop
from aiohttp.abc import AbstractResolver, ResolveResult
from bench.contender import Job, read_job, ready, report
from isal import isal_zlib
from yarl import URL

BATCH = 200
# The column as Messor keeps it: uncompressed.
_TABLE = """
CREATE TABLE floor (url text, status int, title text, markdown text STORAGE EXTERNAL)
"""
_COLUMNS = ("url", "status", "title", "markdown")

aiohttp.set_zlib_backend(isal_zlib)

Row = tuple[str, int, str, str | None]


class StaticResolver(AbstractResolver):
    """Names of the simulated web."""

    def __init__(self, targets: dict[str, tuple[str, int]]) -> None:
        self._targets = targets

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        address, target_port = self._targets[f"{host}:{port}"]
        return [
            ResolveResult(
                hostname=host, host=address, port=target_port, family=family, proto=0, flags=0
            )
        ]

    async def close(self) -> None:
        pass


class Floor:
    """One crawl of all hosts, a few runners to each."""

    def __init__(self, job: Job, session: aiohttp.ClientSession, pool: asyncpg.Pool) -> None:
        self._session = session
        self._pool = pool
        self._per_host = job.per_host
        self._markdown = "--no-markdown" not in job.options
        self._seen: set[str] = set()
        self._resolved: dict[tuple[str, str], str | None] = {}
        self._queues: dict[str, asyncio.Queue[str]] = {
            _origin(start): asyncio.Queue() for start in job.starts
        }
        self._open = 0
        self._done = asyncio.Event()
        self._rows: list[Row] = []
        self._writing: set[asyncio.Task[None]] = set()
        self.pages = 0
        self._add(job.starts)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            runners = [
                group.create_task(self._runner(queue))
                for queue in self._queues.values()
                for _ in range(self._per_host)
            ]
            await self._done.wait()
            for runner in runners:
                runner.cancel()
        self._write()
        await asyncio.gather(*self._writing)

    async def _runner(self, queue: asyncio.Queue[str]) -> None:
        while True:
            await self._page(await queue.get())
            self._open -= 1
            if self._open == 0:
                self._done.set()

    async def _page(self, url: str) -> None:
        async with self._session.get(URL(url, encoded=True), allow_redirects=False) as response:
            body = await response.read()
        document = turbohtml.parse(body.decode(), positions=False)
        hrefs = [anchor.attr("href") or "" for anchor in document.select("a[href]")]
        self._add(self._resolve(_origin(url), url, hrefs))
        title = document.find("title")
        markdown = document.to_markdown() if self._markdown else None
        self._rows.append((url, response.status, title.text if title else "", markdown))
        self.pages += 1
        if len(self._rows) >= BATCH:
            self._write()

    def _resolve(self, origin: str, url: str, hrefs: list[str]) -> set[str]:
        """Absolute links; those from the root are the same on every page of a host."""
        known = self._resolved
        found = set()
        for href in set(hrefs):
            key = (origin if href[:1] == "/" else url, href)
            if key not in known:
                known[key] = _join(url, href)
            link = known[key]
            if link is not None:
                found.add(link)
        return found

    def _add(self, urls: Iterable[str]) -> None:
        for url in urls:
            if url not in self._seen:
                self._seen.add(url)
                queue = self._queues.get(_origin(url))
                if queue is not None:
                    self._open += 1
                    queue.put_nowait(url)

    def _write(self) -> None:
        rows, self._rows = self._rows, []
        task = asyncio.create_task(self._copy(rows))
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def _copy(self, rows: list[Row]) -> None:
        width = 4 if self._markdown else 3
        async with self._pool.acquire() as connection:
            await connection.copy_records_to_table(
                "floor", records=[row[:width] for row in rows], columns=_COLUMNS[:width]
            )


def _origin(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}"


def _join(base: str, href: str) -> str | None:
    try:
        joined: str = ada_url.join_url(base, href)
    except ValueError:
        return None
    return joined.partition("#")[0] if joined.startswith("http") else None


async def main(job: Job) -> int:
    context = ssl.create_default_context()
    if job.ca_file is not None:
        context.load_verify_locations(job.ca_file)
    connector = aiohttp.TCPConnector(
        resolver=StaticResolver(job.targets), limit=0, ssl=context, ttl_dns_cache=60
    )
    headers = {"User-Agent": "floor", "Accept-Encoding": "gzip, deflate"}
    async with (
        asyncpg.create_pool(job.dsn, min_size=2, max_size=2, ssl=False) as pool,
        aiohttp.ClientSession(
            connector=connector, cookie_jar=aiohttp.DummyCookieJar(), headers=headers
        ) as session,
    ):
        await pool.execute(_TABLE)
        ready()
        floor = Floor(job, session, pool)
        await floor.run()
        assert await pool.fetchval("SELECT count(*) FROM floor") == floor.pages
        return floor.pages


if __name__ == "__main__":
    report(pages=uvloop.run(main(read_job())))
