"""Messor through pgBouncer in transaction mode, where a session lasts one transaction."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

import asyncpg
import pytest
from chaos.line import open_line

from messor.jobs import jobs
from messor.jobs.handlers import Handlers, Result
from messor.jobs.jobs import Job, NewJob
from messor.jobs.runner import Runner, RunnerLimits
from messor.ledger import events
from messor.ledger.events import Event
from messor.store.database import SESSION, Connection, Database
from tests.broker.rabbitmq import free_port
from tests.crawling import admit, crawl
from tests.little_web import LittleWeb, page

PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
IGNORED = "search_path, statement_timeout, lock_timeout, idle_in_transaction_session_timeout"


@pytest.fixture(params=["", IGNORED], ids=["refusing settings", "dropping settings"])
async def pooled_dsn(request: pytest.FixtureRequest, dsn: str) -> AsyncIterator[str]:
    """The test's database through a pooler with two server connections."""
    if PROGRAM is None:
        pytest.skip("no pgBouncer is installed; get it with: apt-get install pgbouncer")
    # As root it changes its account, and may not enter the socket's folder then.
    async with open_line(dsn) as line:
        server, port = urlsplit(line.dsn), free_port()
        with _pgbouncer(server, port, request.param):
            yield f"postgresql://{server.username}@127.0.0.1:{port}{server.path}"


@contextmanager
def _pgbouncer(server: SplitResult, port: int, ignored: str) -> Iterator[None]:
    folder = Path(tempfile.mkdtemp(prefix="pgbouncer"))
    path = folder / "pgbouncer.ini"
    path.write_text(
        f"[databases]\n* = host=127.0.0.1 port={server.port} user={server.username}"
        f" password={server.password}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n"
        f"auth_type = any\npool_mode = transaction\ndefault_pool_size = 2\n"
        f"ignore_startup_parameters = {ignored}\n"
    )
    # It refuses to run as root.
    account = "nobody" if os.getuid() == 0 else None
    folder.chmod(0o755)
    process = subprocess.Popen([str(PROGRAM), "-q", str(path)], user=account)
    try:
        yield
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder)


async def test_each_transaction_has_the_settings(pooled_dsn: str) -> None:
    async with Database(pooled_dsn) as database:
        for name in ("search_path", "lock_timeout", "timezone"):
            shown = await database.fetchval(f"SHOW {name}")
            assert shown.replace("5s", "5000") == SESSION[name]
        async with database.transaction() as connection:
            assert await connection.fetchval("SHOW statement_timeout") == "30s"
        await database.require_schema()


async def test_many_clients_share_few_sessions(pooled_dsn: str) -> None:
    async with Database(pooled_dsn, pool_size=12) as database:
        sums = [database.fetchval("SELECT $1::int + $2::int", n, n) for n in range(100)]
        assert await asyncio.gather(*sums) == [n + n for n in range(100)]
        with pytest.raises(asyncpg.DivisionByZeroError):
            await database.fetchval("SELECT 1 / 0")
        assert await database.fetchval("SELECT count(*) FROM jobs") == 0
    connection = await asyncpg.connect(pooled_dsn, ssl=False, statement_cache_size=0)
    try:
        # What a transaction brought along does not stay with the session it used.
        assert await connection.fetchval("SHOW search_path") == '"$user", public'
    finally:
        await connection.close()


async def test_a_crawl(pooled_dsn: str, tmp_path: Path) -> None:
    rooms = {"/": page("home", "/a", "/b"), "/a": page("a", "/b"), "/b": page("b", "/")}
    async with (
        LittleWeb(tmp_path, {"one.test": rooms}) as web,
        Database(pooled_dsn, pool_size=6) as database,
    ):
        await admit(database, "http://one.test/")
        await crawl(web.settings(), database)
        assert sorted(web.paths("one.test")) == ["/", "/a", "/b", "/robots.txt"]
        kept = await database.fetchval("SELECT count(*) FROM page_snapshots")
        assert kept == 3


async def test_jobs(pooled_dsn: str) -> None:
    handlers = Handlers()

    @handlers.handles("score")
    async def score(connection: Connection, job: Job) -> Result:
        await events.record(connection, [Event("jobs.requeued", job.dedupe_key)])
        return None

    async with Database(pooled_dsn, pool_size=6) as database:
        async with database.transaction() as connection:
            wanted = [NewJob("score", f"{number:02}", "domain") for number in range(40)]
            await jobs.enqueue(connection, wanted)
        runner = Runner(database, handlers, "worker", RunnerLimits(poll_seconds=0.02))
        running = asyncio.create_task(runner.run())
        async with asyncio.timeout(60):
            while runner.outcomes["done"] < 40:  # noqa: ASYNC110 - counts have no event
                await asyncio.sleep(0.02)
        runner.stop()
        await running
        rows = await database.fetch("SELECT actor FROM messor.events ORDER BY actor")
    assert [row["actor"] for row in rows] == [f"{number:02}" for number in range(40)]
