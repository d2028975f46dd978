"""One RabbitMQ per run, emptied for each test; workers as processes, of either dispatcher."""

from __future__ import annotations

import asyncio
import multiprocessing
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import amqp
import pytest

from messor.queue import jobs
from messor.queue.broker.app import QUEUE_PREFIX
from messor.queue.broker.options import Options
from messor.queue.jobs import NewJob
from messor.store.database import Database
from tests.broker import rabbitmq, worker_process
from tests.broker.rabbitmq import RabbitMQ

TYPES = ("other", "score", "slow")

FORKING = multiprocessing.get_context("forkserver")
FORKING.set_forkserver_preload([worker_process.__name__])

QUICK = Options(
    url="",
    sweep_seconds=0.3,
    overdue_seconds=1.0,
    relay_seconds=2.0,
    poll_seconds=0.02,
    place_seconds=2.0,
    away_look_seconds=0.05,
    hinted_look_seconds=3600.0,
    timeout_seconds=2.0,
)


@pytest.fixture(scope="session")
def rabbitmq_server() -> Iterator[RabbitMQ]:
    if not rabbitmq.is_installed():
        pytest.skip(rabbitmq.INSTALL)
    with tempfile.TemporaryDirectory(prefix="rabbitmq", ignore_cleanup_errors=True) as folder:
        server = RabbitMQ(Path(folder))
        try:
            server.start()
            server.wait()
            yield server
        finally:
            server.close()


@pytest.fixture
def broker(rabbitmq_server: RabbitMQ) -> RabbitMQ:
    """The broker, running and without queues."""
    if not rabbitmq_server.is_running:
        rabbitmq_server.start()
    rabbitmq_server.wait()
    delete_queues(rabbitmq_server)
    return rabbitmq_server


@pytest.fixture
def options(broker: RabbitMQ) -> Options:
    return replace(QUICK, url=broker.url)


def delete_queues(broker: RabbitMQ) -> None:
    with closing(broker.connect()) as connection:
        for job_type in TYPES:
            connection.channel().queue_delete(QUEUE_PREFIX + job_type)


def standing(broker: RabbitMQ, job_type: str = "score") -> tuple[int, int]:
    """Hints that wait in a queue, and its consumers."""
    with closing(broker.connect()) as connection:
        try:
            answer = connection.channel().queue_declare(QUEUE_PREFIX + job_type, passive=True)
        except amqp.NotFound:
            return 0, 0
        return answer.message_count, answer.consumer_count


class Team:
    """Worker processes on one database, forked from one that has all they need loaded."""

    def __init__(self, dsn: str, options: Options | None, folder: Path) -> None:
        self._dsn = dsn
        self._folder = folder
        self._processes: list[ForkServerProcess] = []
        self.options = options

    async def hire(
        self, *, concurrency: int = 4, job_types: Sequence[str] = TYPES
    ) -> ForkServerProcess:
        ready = self._folder / f"ready {len(self._processes)}"
        given = {
            "name": f"worker {len(self._processes)}",
            "dsn": self._dsn,
            "options": asdict(self.options) if self.options else None,
            "concurrency": concurrency,
            "job_types": job_types,
            "ready": str(ready),
        }
        process = FORKING.Process(target=worker_process.main, args=(given,))
        process.start()
        self._processes.append(process)
        await until_so(ready.exists)
        return process

    async def dismiss(self) -> list[int | None]:
        """Stop all with SIGTERM; answers their exit codes."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            await asyncio.to_thread(process.join, 30)
        return [process.exitcode for process in self._processes]

    def close(self) -> None:
        for process in self._processes:
            process.kill()
            process.join()


@pytest.fixture(params=["in process", "celery"])
def team(request: pytest.FixtureRequest, dsn: str, tmp_path: Path) -> Iterator[Team]:
    """Workers of either dispatcher."""
    options = request.getfixturevalue("options") if request.param == "celery" else None
    with closing(Team(dsn, options, tmp_path)) as hired:
        yield hired


@pytest.fixture
def celery_team(dsn: str, options: Options, tmp_path: Path) -> Iterator[Team]:
    with closing(Team(dsn, options, tmp_path)) as hired:
        yield hired


async def ask(database: Database, *keys: str, job_type: str = "score", **more: Any) -> list[NewJob]:
    wanted = [NewJob(job_type, key, "domain", **more) for key in keys]
    async with database.transaction() as connection:
        return await jobs.enqueue(connection, wanted)


async def made(database: Database) -> list[str]:
    """The keys of the jobs whose effects are there, each as often as it is."""
    rows = await database.fetch("SELECT actor FROM messor.events ORDER BY actor")
    return [row["actor"] for row in rows]


async def state_counts(database: Database) -> dict[str, int]:
    rows = await database.fetch("SELECT state, count(*) FROM messor.jobs GROUP BY state")
    return {row["state"]: row["count"] for row in rows}


async def until(database: Database, **wanted: int) -> None:
    async with asyncio.timeout(40):
        while await state_counts(database) != wanted:  # noqa: ASYNC110 - a database has no event
            await asyncio.sleep(0.02)


async def until_so(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(40):
        while not await asyncio.to_thread(condition):  # noqa: ASYNC110 - a process has no event
            await asyncio.sleep(0.05)
