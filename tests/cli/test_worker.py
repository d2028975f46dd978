"""`messor worker` and `messor up` as a person meets them; what they do is tested with the broker."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from urllib.request import urlopen

import psutil
import pytest

from messor.cli import worker as commands
from messor.core.heartbeat import Heartbeat
from messor.crawl.worker import Worker
from messor.ledger import alarms
from messor.runtime.components import STALLED
from messor.runtime.process_group import ProcessGroup
from messor.runtime.supervisor import RestartPolicy, Supervisor
from messor.runtime.worker_process import Duties
from messor.settings import Settings
from messor.store import migrate
from messor.store.database import Database
from messor.store.server import EmbeddedServer
from simweb import SimResponse
from tests.cli.conftest import Messor
from tests.crawling import admit, until
from tests.little_web import LAG, LittleWeb, Room, page
from tests.moments import crash
from tests.web.nesting_check import KILLER


@pytest.mark.parametrize(
    "words, complaint",
    [
        (
            ["--only", "visit,nonsense"],
            "choose from: analytics_sync, archive, audit, export, export_tidy, extract, flag, mail, scrape_webhook, visit, webhook",
        ),
        (["--only", ""], "Unknown kind of work ''"),
        (["--broker"], "set MESSOR_BROKER_URL="),
        (["--broker", "--only", "visit"], "--broker applies to jobs only"),
        (["--processes", "2", "--broker"], "set MESSOR_BROKER_URL="),
        (["--processes", "0"], "0 is not in the range"),
        (["--concurrency", "none"], "'none' is not a valid integer range"),
    ],
)
def test_mistakes_are_told_before_anything_starts(
    messor: Messor, words: list[str], complaint: str
) -> None:
    said = messor("worker", *words)
    assert said.code == 2
    assert complaint in said.err


def test_a_broker_of_another_kind_is_refused(
    messor: Messor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESSOR_BROKER_URL", "redis://127.0.0.1/")
    said = messor("worker")
    assert (said.code, said.err) == (
        2,
        "messor: MESSOR_BROKER_URL must begin with amqp:// or amqps://\n",
    )


JOBS = {
    "analytics_sync", "archive", "audit", "export", "export_tidy", "flag", "mail", "scrape_webhook",
    "webhook",
}  # fmt: skip


@pytest.mark.parametrize(
    "only, asked, visits, jobs, concurrency",
    [
        (None, None, True, JOBS, 16),
        (None, 4, True, JOBS, 4),
        (None, 400, True, JOBS, 16),
        ("audit", 400, False, {"audit"}, 400),
        (" visit ", None, True, set(), 16),
        ("extract", None, False, set(), 16),
    ],
)
def test_what_a_process_does(
    only: str | None, asked: int | None, visits: bool, jobs: set[str], concurrency: int
) -> None:
    settings = Settings()
    duties = Duties.understand(only, settings, concurrency=asked, is_supervised=False)
    assert (duties.visits, set(duties.job_types)) == (visits, jobs)
    assert duties.extracts == (only in (None, "extract"))
    assert duties.limits(settings).concurrency == concurrency


def test_the_broker_has_its_line_in_the_doctors_report(
    messor: Messor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def line() -> dict[str, str]:
        found = {check["name"]: check for check in messor("doctor", "--json").json}
        broker: dict[str, str] = found["broker"]
        return broker

    assert (line()["state"], line()["found"][:14]) == ("ok", "not configured")
    monkeypatch.setenv("MESSOR_BROKER_URL", "amqp://guest:secret@127.0.0.1:9//")
    broker = line()
    assert broker["state"] == "bad"
    assert "rejects hints" in broker["found"]
    assert "secret" not in str(broker)


@contextmanager
def started(folder: Path, *words: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "messor", *words],
        cwd=folder,
        env={**os.environ, **environment},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(process: subprocess.Popen[str], text: str) -> None:
    assert process.stderr is not None
    said: list[str] = []
    for line in process.stderr:
        if text in line:
            return
        said.append(line)
    raise AssertionError(f"it ended without saying {text!r}: {''.join(said)}")


def test_up_runs_workers_and_stops_them(dsn: str, tmp_path: Path) -> None:
    environment = {"MESSOR_DATABASE_URL": dsn, "MESSOR_LISTEN_PORT": "0"}
    with started(tmp_path, "up", "--workers", "2", **environment) as process:
        wait_for(process, "is running")
        wait_for(process, "is running")
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0


async def test_a_worker_ends_though_its_database_is_gone(tmp_path: Path) -> None:
    """What is not stored by then is fetched again; its leases run out."""
    server = EmbeddedServer(tmp_path / "server")
    dsn = await asyncio.to_thread(server.acquire)
    try:
        await asyncio.to_thread(migrate.upgrade, dsn)
        async with Database(dsn) as database:
            worker = Worker(Settings(data_dir=tmp_path / "data"), database)
            company = ProcessGroup([worker], farewell_seconds=0.5)
            running = asyncio.create_task(company.run())
            await until(lambda: worker.shift is not None)
            await asyncio.to_thread(crash, server)
            company.stop()
            await asyncio.wait_for(running, 60)
    finally:
        server.release()


# A worker whose reader dies of one page; its cage, a process of its own, does not.
FRAIL = """
import os, signal, sys
from messor.crawl import read
sound = read.read_page
def frail(html, *more, **options):
    if "deadly" in html:
        os.kill(os.getpid(), signal.SIGSEGV)
    return sound(html, *more, **options)
read.read_page = frail
from messor.cli.main import main
sys.argv = ["messor", "worker", "--supervised", "--only", "visit"]
main()
"""


WORKER = [sys.executable, "-m", "messor", "worker", "--supervised", "--only", "visit"]
# The second one names an encoding, late: it is looked for before anything else is.
KILLING = {
    name: SimResponse(200, (("Content-Type", "text/html"),), text.encode())
    for name, text in {"parsed": KILLER, "decoded": f"{KILLER} charset"}.items()
}
READ = "SELECT count(*) FROM messor.crawl_tasks WHERE kind = 'page' AND outcome = ANY ($1)"


async def attacked(
    database: Database,
    dsn: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    command: list[str],
    poison: SimResponse,
    policy: RestartPolicy | None = None,
) -> list[str]:
    """What two workers said while 40 hosts of one domain served them a poison, beside others."""
    hosts = [f"h{number}.evil.test" for number in range(40)]
    links = [f"http://{host}/" for host in hosts]
    web_of: dict[str, dict[str, Room]] = {host: {"/": poison} for host in hosts}
    web_of["evil.test"] = {"/": page("home", *links)}
    inner = [f"/{number}" for number in range(10)]
    for number in range(4):
        rooms = {link: page(link) for link in inner}
        web_of[f"good{number}.test"] = {"/": page("home", *inner), **rooms}
    async with LittleWeb(tmp_path, web_of) as web:
        settings = web.settings()
        for name, value in {
            "DATABASE_URL": dsn,
            "DATA_DIR": str(settings.data_dir),
            "ALLOWED_NETWORKS": settings.allowed_networks.model_dump_json(),
            "WORKER_LEASE": "600",
            "BROWSER": "off",
        }.items():
            monkeypatch.setenv(f"MESSOR_{name}", value)
        for host in ("evil.test", *(f"good{number}.test" for number in range(4))):
            await admit(database, f"http://{host}/", delay=0.02)
        said: list[str] = []
        supervisor = Supervisor(command, 2, say=said.append, ceiling_mb=1000, policy=policy)
        running = asyncio.create_task(supervisor.run())
        try:
            async with asyncio.timeout(240):
                while await database.fetchval(READ, ["ok", "too_complex"]) < 41 + 44:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
        finally:
            supervisor.stop()
            await running
    return said


@pytest.mark.wide
async def test_forty_hosts_of_a_domain_cost_as_many_workers_as_one(
    database: Database, dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it is that ends a reader: the domain is blamed, for every worker, at once."""
    said = await attacked(
        database, dsn, tmp_path, monkeypatch,
        command=[sys.executable, "-c", FRAIL], poison=page("deadly"),
    )  # fmt: skip
    assert 1 <= len(said) <= 2, said
    assert await database.fetchval(READ, ["ok"]) == 41 + 44  # all of them, in the sandbox
    assert await database.fetchval("SELECT sum(deaths) FROM messor.crawl_tasks") <= 2


@pytest.mark.parametrize("name", ["parsed", pytest.param("decoded", marks=pytest.mark.wide)])
async def test_a_page_that_crashes_the_parser_ends_no_worker(
    database: Database, dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    poison = KILLING[name]
    said = await attacked(database, dsn, tmp_path, monkeypatch, command=WORKER, poison=poison)
    assert said == []
    assert await database.fetchval(READ, ["ok"]) == 1 + 44
    assert await database.fetchval(READ, ["too_complex"]) == 40


async def test_what_a_killed_worker_held_goes_on_at_once_and_in_its_pace(
    database: Database, dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without waiting for its lease, and never sooner than the delay after its last request."""
    rooms = {
        "/": page("home", "/poison", "/last"),
        "/poison": page("deadly"),
        "/last": page("last"),
    }
    others = {**rooms, "/poison": page("harmless")}
    delay = 1.5  # longer than it takes the others to notice
    async with LittleWeb(tmp_path, {"one.test": rooms, "two.test": others}) as web:
        settings = web.settings()
        for name, value in {
            "DATABASE_URL": dsn,
            "DATA_DIR": str(settings.data_dir),
            "ALLOWED_NETWORKS": settings.allowed_networks.model_dump_json(),
            "WORKER_LEASE": "600",
            "BROWSER": "off",
        }.items():
            monkeypatch.setenv(f"MESSOR_{name}", value)
        for host in web.houses:
            await admit(database, f"http://{host}/", delay=delay)
        said: list[str] = []
        command = [sys.executable, "-c", FRAIL]
        supervisor = Supervisor(command, 2, say=said.append, ceiling_mb=1000)
        running = asyncio.create_task(supervisor.run())
        try:
            async with asyncio.timeout(240):
                while await database.fetchval(READ, ["ok"]) < 6:  # noqa: ASYNC110 - no event
                    await asyncio.sleep(0.05)
        finally:
            supervisor.stop()
            await running
        for host in web.houses:
            times = [asked.arrived_ns / 1e9 for asked in web.requests(host)]
            assert min(b - a for a, b in pairwise(times)) >= delay - LAG
    assert len(said) == 1
    assert "was ended by SIGSEGV" in said[0]
    doubled = "SELECT count(*) - count(DISTINCT page_id) FROM messor.page_snapshots"
    assert await database.fetchval(doubled) == 0


HANGING = FRAIL.replace("os.kill(os.getpid(), signal.SIGSEGV)", "__import__('time').sleep(3600)")


@pytest.mark.wide
async def test_a_worker_whose_loop_a_page_blocks_is_replaced_and_the_page_blamed(
    database: Database, dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = await attacked(
        database, dsn, tmp_path, monkeypatch,
        command=[sys.executable, "-c", HANGING], poison=page("deadly"),
        policy=RestartPolicy(first_pause_seconds=0.01, poll_seconds=0.1, hang_seconds=2),
    )  # fmt: skip
    hung = [line for line in said if "has not responded for 2 s" in line]
    assert 1 <= len(hung) <= 2, said
    assert await database.fetchval(READ, ["ok"]) == 41 + 44


# A server process whose event loop hangs when a file says so; not the process that replaces it.
SITE = """
import sys
if "--socket" in sys.argv:
    import asyncio, os, pathlib, threading, time
    def watch():
        told = pathlib.Path("hang")
        while not told.exists():
            time.sleep(0.05)
        told.unlink()
        from messor.ops.webhooks import dispatch
        dispatch.dispatch = lambda database: time.sleep(3600)
    threading.Thread(target=watch, daemon=True).start()
"""


@pytest.mark.wide
async def test_up_replaces_a_server_that_hangs_while_its_workers_go_on(
    database: Database, dsn: str, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(SITE)
    environment = {
        "MESSOR_DATABASE_URL": dsn, "MESSOR_LISTEN_PORT": "0", "MESSOR_HANG_SECONDS": "3",
        "PYTHONPATH": str(tmp_path),
    }  # fmt: skip
    with started(tmp_path, "up", "--workers", "1", **environment) as process:
        url = await asyncio.to_thread(console_of, process)
        await asyncio.to_thread(wait_for, process, "is running")
        assert await asyncio.to_thread(status_of, url) == 200
        (worker,) = workers_of(process)
        (tmp_path / "hang").touch()
        await asyncio.to_thread(wait_for, process, "has not responded for 3 s and is killed")
        assert await asyncio.to_thread(status_of, url) == 200  # at the same port
        assert workers_of(process) == [worker]
        found = await database.fetch("SELECT data FROM messor.events WHERE type = $1", STALLED)
        assert ["server processes" in row["data"] for row in found] == [True]
        alarmed = [alarm.name for alarm in await alarms.standing(database)]
        assert alarmed == ["server processes"]
        process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(process.wait, 120) == 0


def console_of(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    return next(line.split()[1] for line in process.stderr if line.startswith("Console: "))


def status_of(url: str) -> int:
    with urlopen(f"{url}/login", timeout=60) as answer:
        status: int = answer.status
    return status


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    children = psutil.Process(process.pid).children()
    return [child.pid for child in children if "worker" in child.cmdline()]


async def test_a_supervisor_that_fails_does_not_end_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[str] = []
    unending = asyncio.Event()

    class Team:
        def __init__(self, name: str) -> None:
            self._name = name
            self.heartbeat = Heartbeat()
            made.append(name)

        def stop(self) -> None:
            unending.set()

        async def run(self) -> None:
            if self._name == "frail":
                raise RuntimeError("a fault")
            await unending.wait()

    monkeypatch.setattr(RestartPolicy, "pause", lambda *_: 0.01)
    teams = [lambda: Team("frail"), lambda: Team("sound")]
    running = asyncio.create_task(commands._supervise(Settings(), 2, teams))  # type: ignore[arg-type]
    await until(lambda: made.count("frail") > 3)
    assert not running.done()
    assert made.count("sound") == 1
    os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.wait_for(running, 10)
