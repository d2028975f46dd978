"""The life of the embedded server: started by the first user, shared, stopped by the last, and
brought back after it or its users were killed. Processes are real ones.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import quote, urlsplit

import asyncpg
import psutil
import pytest

from messor.errors import UnavailableError
from messor.store.embedded.postmaster import find_postmaster
from messor.store.embedded.programs import find_programs
from messor.store.server import EmbeddedServer
from tests.broker.rabbitmq import free_port
from tests.moments import wait_until_over

USER = """
import pathlib, sys
from messor.store.embedded.programs import find_programs
from messor.store.server import EmbeddedServer
server = EmbeddedServer(pathlib.Path(sys.argv[1]))
sys.stdin.readline()
print(server.acquire(), flush=True)
sys.stdin.readline()
server.release()
"""

linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


class User:
    """Another process that uses the server; it acquires when told `go`, releases at `leave`."""

    def __init__(self, data_dir: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", USER, str(data_dir)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def dsn(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def leave(self) -> None:
        self.go()
        assert self.process.wait(timeout=180) == 0

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        with self.process:
            pass


@pytest.fixture
def data_dir(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "messor data données"
    yield folder
    left = find_postmaster(folder / "postgres" / "data")
    if left is not None:
        with suppress(ProcessLookupError):
            os.kill(left.pid, signal.SIGQUIT)


@pytest.fixture
def new_user(data_dir: Path) -> Iterator[Callable[[], User]]:
    with ExitStack() as stack:

        def start() -> User:
            user = User(data_dir)
            stack.callback(user.close)
            return user

        yield start


def query(dsn: str, *statements: str) -> object:
    async def run() -> object:
        connection = await asyncpg.connect(dsn, ssl=False)
        try:
            for statement in statements:
                answer = await connection.fetchval(statement)
        finally:
            await connection.close()
        return answer

    return asyncio.run(run())


def postmaster_pid(server: EmbeddedServer) -> int:
    pid = server.status().pid
    assert pid is not None
    return pid


def kill_postmaster(server: EmbeddedServer) -> None:
    """The server alone: a busy session of it may outlive it."""
    postmaster = psutil.Process(postmaster_pid(server))
    postmaster.kill()
    wait_until_over([postmaster])


def test_first_start_and_last_stop(data_dir: Path) -> None:
    server = EmbeddedServer(data_dir)
    assert not server.status().running

    dsn = server.acquire()
    status = server.status()
    parts = urlsplit(dsn)
    assert (parts.username, parts.password, parts.path) == ("messor", None, "/messor")
    assert status.running
    assert status.port is None  # nothing listens on TCP
    assert status.socket is not None
    assert (parts.netloc, parts.port) == (f"messor@{quote(str(status.socket), safe='')}:5432", 5432)
    assert status.data_folder == data_dir / "postgres" / "data"
    assert status.version is not None
    assert (data_dir / "postgres" / "pgpass").stat().st_mode & 0o777 == 0o600
    assert server.acquire() == dsn

    server.release()
    server.release()
    assert not server.status().running
    assert "database system is shut down" in (data_dir / "postgres" / "server.log").read_text()


def test_settings_and_rights_of_the_role(data_dir: Path) -> None:
    server = EmbeddedServer(data_dir)
    dsn = server.acquire()
    expected = {
        "server_encoding": "UTF8",
        "listen_addresses": "",
        "unix_socket_permissions": "0700",
        "synchronous_commit": "on",
        "fsync": "on",
        "checkpoint_timeout": "15min",
        "jit": "off",
        "TimeZone": "UTC",
    }
    assert {name: query(dsn, f"SHOW {name}") for name in expected} == expected
    assert query(dsn, "SELECT lower('ÉÖ')") == "éö"
    assert query(dsn, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user") is False
    assert query(dsn, "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = 'messor'")
    with pytest.raises(asyncpg.InvalidPasswordError):
        query(dsn.replace("messor@", "messor:not@"), "SELECT 1")
    with pytest.raises(asyncpg.InvalidAuthorizationSpecificationError):
        query(dsn.replace("//messor@", "//postgres:any@"), "SELECT 1")
    server.release()


@linux
def test_server_runs_apart_from_the_terminal_and_from_root(data_dir: Path) -> None:
    server = EmbeddedServer(data_dir)
    server.acquire()
    pid = postmaster_pid(server)
    assert os.getsid(pid) != os.getsid(0)
    owner = Path(f"/proc/{pid}").stat().st_uid
    assert owner != 0
    assert (data_dir / "postgres" / "data").stat().st_uid == owner
    if os.geteuid() == 0:
        # Neither the folder nor what it lies in was opened to make that possible.
        assert (data_dir / "postgres").stat().st_mode & 0o777 == 0o711
        assert data_dir.parent.stat().st_mode & 0o077 == 0
    else:
        assert owner == os.geteuid()
    server.release()


@linux
@pytest.mark.skipif(os.geteuid() != 0, reason="only root lends the server another account")
def test_programs_that_only_root_reaches(data_dir: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    bin_dir = find_programs(None, None).bin_dir
    package = bin_dir.parents[1]
    for folder in (package, package.with_name(f"{package.name}.libs")):
        shutil.copytree(folder, tmp_path / folder.name)
    copied = tmp_path / package.name / bin_dir.relative_to(package)
    server = EmbeddedServer(data_dir, bin_dir=copied)
    server.acquire()
    server.release()
    assert not server.status().running


def test_what_an_interrupted_first_start_left_is_cleared(data_dir: Path) -> None:
    left = data_dir / "postgres" / "data.new-half"
    left.mkdir(parents=True)
    (left / "PG_VERSION").write_text("18\n")
    server = EmbeddedServer(data_dir)
    server.acquire()
    server.release()
    assert not left.exists()


def test_a_second_process_joins_and_the_last_user_stops(
    data_dir: Path, new_user: Callable[[], User]
) -> None:
    server, user = EmbeddedServer(data_dir), new_user()
    dsn = server.acquire()
    user.go()
    assert user.dsn() == dsn
    assert server.status().users in {2, None}

    server.release()
    assert server.status().running
    user.leave()
    assert not server.status().running


def test_handles_in_one_process_count_one_by_one(data_dir: Path) -> None:
    first, second = EmbeddedServer(data_dir), EmbeddedServer(data_dir)
    dsns: list[str] = []
    threads = [
        threading.Thread(target=lambda handle=handle: dsns.append(handle.acquire()))
        for handle in (first, second, second)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(dsns)) == 1

    first.release()
    assert query(second.ensure_running(), "SELECT 1") == 1
    second.release()
    assert not first.status().running


def test_eight_processes_start_one_server(data_dir: Path, new_user: Callable[[], User]) -> None:
    users = [new_user() for _ in range(8)]
    for user in users:
        user.go()
    assert len({user.dsn() for user in users}) == 1
    log = (data_dir / "postgres" / "server.log").read_text()
    assert log.count("starting PostgreSQL") == 1
    for user in users:
        user.leave()
    assert not EmbeddedServer(data_dir).status().running


def test_a_killed_postmaster_comes_back_with_its_socket_and_data(data_dir: Path) -> None:
    server = EmbeddedServer(data_dir)
    dsn = server.acquire()
    query(dsn, "CREATE TABLE kept (n int)", "INSERT INTO kept VALUES (7)")
    for _ in range(2):
        kill_postmaster(server)
        assert server.ensure_running() == dsn
        assert query(dsn, "SELECT n FROM kept") == 7
    server.release()
    assert server.acquire() == dsn
    server.release()


async def is_busy(dsn: str) -> None:
    """Until somebody else's query runs."""
    active = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT count(n)%' AND state = 'active'"
    async with asyncio.timeout(60):
        while not await asyncio.to_thread(query, dsn, active):  # noqa: ASYNC110 - a server has no event
            await asyncio.sleep(0.01)


@linux
async def test_a_busy_orphan_does_not_hold_up_the_restart(data_dir: Path) -> None:
    server = EmbeddedServer(data_dir)
    dsn = server.acquire()
    connection = await asyncpg.connect(dsn, ssl=False)
    # It never waits, so it does not notice that its server is gone.
    endless = "SELECT count(n) FROM (SELECT generate_series(1, 1e12::bigint) AS n) AS numbers"
    busy = asyncio.create_task(connection.fetchval(endless))
    await is_busy(dsn)
    kill_postmaster(server)
    assert await asyncio.to_thread(server.ensure_running) == dsn
    with pytest.raises((asyncpg.PostgresError, OSError)):
        await busy
    await asyncio.to_thread(server.release)


@linux
def test_a_zombie_is_not_taken_for_a_server(data_dir: Path) -> None:
    # As a subreaper this process inherits the postmaster and, like some containers' first
    # process, does not reap it.
    prctl = ctypes.CDLL(None).prctl
    assert prctl(36, 1, 0, 0, 0) == 0
    server = EmbeddedServer(data_dir)
    try:
        dsn = server.acquire()
        pid = postmaster_pid(server)
        kill_postmaster(server)
        assert Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"
        assert server.ensure_running() == dsn
        server.release()
    finally:
        prctl(36, 0, 0, 0, 0)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def test_a_killed_user_is_not_counted(data_dir: Path, new_user: Callable[[], User]) -> None:
    killed, server = new_user(), EmbeddedServer(data_dir)
    killed.go()
    dsn = killed.dsn()
    killed.close()
    assert server.status().running
    assert server.status().users in {0, None}
    assert server.acquire() == dsn
    server.release()
    assert not server.status().running


def test_an_asked_port_is_listened_on_beside_the_socket(data_dir: Path) -> None:
    port = free_port()
    asked = EmbeddedServer(data_dir, port=port)
    with (
        socket.create_server(("127.0.0.1", port)),
        pytest.raises(UnavailableError, match=f"Port {port} is in use"),
    ):
        asked.acquire()
    dsn = asked.acquire()
    status = asked.status()
    assert (status.port, query(dsn, "SHOW listen_addresses")) == (port, "127.0.0.1")
    assert quote(str(status.socket), safe="") in dsn  # Messor itself keeps to the socket
    passfile = quote(str(data_dir / "postgres" / "pgpass"), safe="")
    over_tcp = f"postgresql://messor@127.0.0.1:{port}/messor?passfile={passfile}"
    assert query(over_tcp, "SELECT 1") == 1
    asked.release()
