"""One RabbitMQ per run and only while it is needed, emptied for each test; workers as processes, of either dispatcher."""

from __future__ import annotations

import asyncio
import multiprocessing
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, replace
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import amqp
import pytest

from messor.jobs import jobs
from messor.jobs.broker.app import QUEUE_PREFIX
from messor.jobs.broker.options import Options
from messor.jobs.jobs import NewJob
from messor.store import migrate
from messor.store.database import LOST_CONNECTION, Database
from messor.store.server import EmbeddedServer
from tests.broker import rabbitmq, worker_process
from tests.broker.rabbitmq import RabbitMQ

HERE = Path(__file__).parent
TYPES = ("failing", "other", "poison", "score", "slow")
PATIENCE = 180.0  # processes take long to start on a busy machine
LASTING = 60.0  # a lease that nobody waits for
BRIEF = 3.0  # one that is to run out

Target = Callable[[dict[str, Any]], None]

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
    timeout_seconds=20.0,
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whoever needs the broker runs where it runs: it takes seconds to start, and never idles."""
    for item in items:
        if item.path.parent == HERE and item.path.name != "test_options.py":
            item.add_marker(pytest.mark.xdist_group("rabbitmq"))


@pytest.fixture(scope="package")
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

    def __init__(
        self, dsn: str, options: Options | None, folder: Path, broker: RabbitMQ | None = None
    ) -> None:
        self._broker = broker
        self._dsn = dsn
        self._folder = folder
        self._processes: list[ForkServerProcess] = []
        self._leaders: list[ForkServerProcess] = []
        self.options = options

    async def hire(
        self,
        *,
        concurrency: int = 4,
        job_types: Sequence[str] = TYPES,
        lease_seconds: float = LASTING,
    ) -> ForkServerProcess:
        if self.options is not None and not self._leaders:
            await self.lead()
        process = await self._start(worker_process.main, concurrency, job_types, lease_seconds)
        self._processes.append(process)
        return process

    async def lead(self) -> ForkServerProcess:
        """Start one who feeds the broker, when it is his turn."""
        process = await self._start(worker_process.relay)
        self._leaders.append(process)
        return process

    async def _start(
        self,
        target: Target,
        concurrency: int = 0,
        job_types: Sequence[str] = TYPES,
        lease_seconds: float = LASTING,
    ) -> ForkServerProcess:
        name = f"process {len(self._processes) + len(self._leaders)}"
        ready = self._folder / f"{name} is ready"
        given = {
            "name": name,
            "dsn": self._dsn,
            "options": asdict(self.options) if self.options else None,
            "concurrency": concurrency,
            "lease_seconds": lease_seconds,
            "job_types": job_types,
            "ready": str(ready),
        }
        process = FORKING.Process(target=target, args=(given,))
        process.start()
        await until_so(ready.exists)
        return process

    async def connected(self, workers: int) -> None:
        """Until so many workers listen to the broker, if there is one."""
        if (broker := self._broker) is not None:
            await until_so(lambda: standing(broker)[1] == workers)

    async def heard(self, job_type: str) -> None:
        """Until no worker takes hints of a type any more, if there is a broker."""
        if (broker := self._broker) is not None:
            await until_so(lambda: standing(broker, job_type)[1] == 0)

    def lose_broker(self) -> None:
        """As a power cut would; where there is none, nothing is lost."""
        if self._broker is not None:
            self._broker.kill()

    async def bring_broker_back(self) -> None:
        if self._broker is not None:
            self._broker.start()
            await asyncio.to_thread(self._broker.wait)

    async def dismiss(self) -> list[int | None]:
        """Stop all with SIGTERM; answers the workers' exit codes."""
        everybody = self._processes + self._leaders
        for process in everybody:
            process.terminate()
        for process in everybody:
            await asyncio.to_thread(process.join, PATIENCE)
        return [process.exitcode for process in self._processes]

    def close(self) -> None:
        for process in self._processes + self._leaders:
            process.kill()
            process.join()


Dispatch = tuple[Options | None, RabbitMQ | None]


@pytest.fixture(params=["in process", "celery"])
def dispatch(request: pytest.FixtureRequest) -> Dispatch:
    """Either dispatcher: with a broker, or without."""
    if request.param == "in process":
        return None, None
    return request.getfixturevalue("options"), request.getfixturevalue("broker")


@pytest.fixture
def team(dispatch: Dispatch, dsn: str, tmp_path: Path) -> Iterator[Team]:
    """Workers of either dispatcher."""
    options, broker = dispatch
    with closing(Team(dsn, options, tmp_path, broker)) as hired:
        yield hired


@pytest.fixture
def doomed_server(tmp_path: Path) -> Iterator[EmbeddedServer]:
    """A PostgreSQL of the test's own, which may be killed."""
    server = EmbeddedServer(tmp_path / "server")
    migrate.upgrade(server.acquire())
    yield server
    server.release()


@pytest.fixture
def doomed_team(
    dispatch: Dispatch, doomed_server: EmbeddedServer, tmp_path: Path
) -> Iterator[Team]:
    """Workers of either dispatcher on that PostgreSQL."""
    options, broker = dispatch
    with closing(Team(doomed_server.acquire(), options, tmp_path, broker)) as hired:
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
    """Until jobs stand so; a database that is away for a while is waited for."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with suppress(*LOST_CONNECTION):
                if await state_counts(database) == wanted:
                    return
            await asyncio.sleep(0.02)


async def until_so(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await asyncio.to_thread(condition):  # noqa: ASYNC110 - a process has no event
            await asyncio.sleep(0.05)
