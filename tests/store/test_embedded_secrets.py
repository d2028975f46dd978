"""Who can reach the embedded server and its password: nobody else, at any moment.

The other user of the machine is real where the tests run as root: programs started as `nobody`.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, urlsplit

import asyncpg
import psutil
import pytest

from messor.errors import UnavailableError
from messor.store.connection import connect
from messor.store.database import Database
from messor.store.embedded.account import choose_account
from messor.store.embedded.folder import DataFolder
from messor.store.embedded.passwords import new_password, scram_verifier
from messor.store.embedded.postmaster import find_postmaster
from messor.store.embedded.probe import set_password
from messor.store.embedded.programs import find_programs
from messor.store.server import EmbeddedServer
from tests.broker.rabbitmq import free_port
from tests.moments import wait_until_over
from tests.template_server import with_password

as_root = pytest.mark.skipif(
    os.geteuid() != 0 or sys.platform != "linux",
    reason="only root can look as another user: run the tests as root on Linux",
)


@pytest.fixture
def data_dir(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "data"
    yield folder
    left = find_postmaster(folder / "postgres" / "data")
    if left is not None:
        with suppress(ProcessLookupError):
            os.kill(left.pid, signal.SIGQUIT)


def kill_postmaster(server: EmbeddedServer) -> None:
    pid = server.status().pid
    assert pid is not None
    postmaster = psutil.Process(pid)
    postmaster.kill()
    wait_until_over([postmaster])


def ask(dsn: str, sql: str = "SELECT 1") -> object:
    async def run() -> object:
        connection = await connect(dsn)
        try:
            return await connection.fetchval(sql)
        finally:
            await connection.close()

    return asyncio.run(run())


def socket_of(server: EmbeddedServer) -> Path:
    found = server.status().socket
    assert found is not None
    return found


# Where the socket lies --------------------------------------------------------------------------


def test_a_short_data_folder_holds_the_socket(tmp_path_factory: pytest.TempPathFactory) -> None:
    short = Path(os.path.realpath(tmp_path_factory.getbasetemp())) / "s"
    server = EmbeddedServer(short)
    server.acquire()
    place = socket_of(server)
    assert place == short / "postgres" / "socket"
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    pid = server.status().pid
    assert place.stat().st_uid == Path(f"/proc/{pid}").stat().st_uid
    assert not [c for c in psutil.Process(pid).net_connections() if c.status == "LISTEN"]
    server.release()


def test_a_deep_data_folder_has_its_socket_in_a_private_place_elsewhere(tmp_path: Path) -> None:
    deep = tmp_path / ("deep " * 12) / ("é" * 60)
    server = EmbeddedServer(deep)
    dsn = server.acquire()
    place = socket_of(server)
    assert len(os.fsencode(place / ".s.PGSQL.65535")) <= 107
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert ask(dsn) == 1
    kill_postmaster(server)
    assert server.ensure_running() == dsn
    server.release()
    assert not place.exists()
    assert server.acquire() == dsn  # the place is kept
    server.release()


def test_a_place_that_another_took_meanwhile_is_not_used(tmp_path: Path) -> None:
    deep = tmp_path / ("deep " * 12) / ("é" * 60)
    server = EmbeddedServer(deep)
    server.acquire()
    first = socket_of(server)
    server.release()
    (tmp_path / "theirs").mkdir()
    first.symlink_to(tmp_path / "theirs")
    try:
        server.acquire()
        assert socket_of(server) != first
        assert list((tmp_path / "theirs").iterdir()) == []
        server.release()
    finally:
        first.unlink()


# Data of earlier releases -----------------------------------------------------------------------


def test_data_of_an_earlier_release_goes_on_with_its_password(data_dir: Path) -> None:
    server = EmbeddedServer(data_dir)
    dsn = server.acquire()
    ask(dsn, "CREATE TABLE kept AS SELECT 7 AS n")
    server.release()
    base = data_dir / "postgres"
    password = (base / "pgpass").read_text().strip().rpartition(":")[2]
    (base / "pgpass").unlink()
    (base / "password").write_text(password)
    (base / "port").write_text("23456")
    (base / "data" / "pg_hba.conf").write_text("host all all 127.0.0.1/32 scram-sha-256\n")

    dsn = server.acquire()
    assert ask(dsn, "SELECT n FROM kept") == 7
    assert not (base / "port").exists()
    assert "127.0.0.1" in (base / "data" / "pg_hba.conf").read_text()  # what stood there stays
    server.rotate_password()
    assert not (base / "password").exists()
    server.release()


def test_a_server_that_an_earlier_release_still_runs_is_joined(data_dir: Path) -> None:
    server = EmbeddedServer(data_dir)
    server.acquire()
    server.release()
    port, data = free_port(), data_dir / "postgres" / "data"
    (data / "pg_hba.conf").write_text("host all all 127.0.0.1/32 scram-sha-256\n")
    programs = find_programs(None, None)
    account = choose_account(DataFolder(data_dir / "postgres"), programs)
    options = f"-c listen_addresses=127.0.0.1 -c unix_socket_directories= -p {port}"
    started = account.run(
        [programs.path("pg_ctl"), "-s", "-w", "-o", options, "-l", os.devnull, "start"],
        timeout=60,
        env={"PGDATA": str(data)},
        output=subprocess.DEVNULL,
    )
    assert started.returncode == 0
    dsn = server.acquire()
    assert urlsplit(dsn).port == port
    assert ask(dsn) == 1
    server.release()
    assert not server.status().running


# Rotation ---------------------------------------------------------------------------------------


async def test_a_running_pool_goes_on_while_the_password_is_rotated(data_dir: Path) -> None:
    server = EmbeddedServer(data_dir)
    dsn = await asyncio.to_thread(server.acquire)
    old = with_password(dsn)
    stop = asyncio.Event()

    async def keep_connecting(database: Database) -> int:
        opened = 0
        while not stop.is_set():
            # New connections all the time, as a pool that grows and shrinks makes them.
            connection = await connect(database.dsn)
            assert await connection.fetchval("SELECT 1") == 1
            await connection.close()
            opened += 1
        return opened

    async with Database(dsn) as database:
        work = asyncio.create_task(keep_connecting(database))
        for _ in range(5):
            await asyncio.to_thread(server.rotate_password)
            assert await database.fetchval("SELECT 1") == 1
        stop.set()
        assert await work > 0
    with pytest.raises(asyncpg.InvalidPasswordError):
        await asyncpg.connect(old, ssl=False)
    await asyncio.to_thread(server.release)


def left_before_the_change(folder: DataFolder, dsn: str) -> None:
    """Killed after the new password was written down."""
    assert dsn
    folder.write_password(folder.next_passfile, new_password())


def left_after_the_change(folder: DataFolder, dsn: str) -> None:
    """Killed after the server took the new password."""
    password = new_password()
    folder.write_password(folder.next_passfile, password)
    set_password(dsn, scram_verifier(password))


@pytest.mark.parametrize("killed", [left_before_the_change, left_after_the_change])
def test_a_rotation_that_was_killed_locks_nobody_out(
    data_dir: Path, killed: Callable[[DataFolder, str], None]
) -> None:
    server, folder = EmbeddedServer(data_dir), DataFolder(data_dir / "postgres")
    dsn = server.acquire()
    killed(folder, dsn)
    assert ask(dsn) == 1  # who runs already goes on
    assert server.ensure_running() == dsn  # and the next start tidies up
    assert not folder.next_passfile.exists()
    assert asyncio.run(direct(dsn)) == 1
    server.rotate_password()
    assert asyncio.run(direct(dsn)) == 1
    server.release()


async def direct(dsn: str) -> object:
    """By the driver alone, as other programs do it."""
    connection = await asyncpg.connect(dsn, ssl=False)
    try:
        return await connection.fetchval("SELECT 1")
    finally:
        await connection.close()


def test_a_password_that_is_not_the_servers_is_one_sentence(data_dir: Path) -> None:
    server, folder = EmbeddedServer(data_dir), DataFolder(data_dir / "postgres")
    server.acquire()
    folder.write_password(folder.passfile, new_password())
    with pytest.raises(UnavailableError, match=r"rejects the password in .*pgpass: restore"):
        server.ensure_running()
    folder.passfile.unlink()
    with pytest.raises(UnavailableError, match=r"password .* is missing: restore"):
        server.ensure_running()
    server.release()


# What another user of the machine sees ----------------------------------------------------------

LOOK = """
import os, sys
base, secret = sys.argv[1], sys.stdin.readline().strip()
def look(path):
    try:
        with open(path, "rb") as file:
            return file.read(50_000_000)
    except OSError:
        return b""
seen = [f"/proc/{pid}/{part}" for pid in os.listdir("/proc") if pid.isdigit()
        for part in ("cmdline", "environ")]
seen += [os.path.join(at, name) for at, _, names in os.walk(base) for name in names]
seen += [os.path.join(base, name) for name in
         ("postgres/pgpass", "postgres/password", "secret.key", "postgres/data/pg_hba.conf",
          "postgres/server.log", "archive")]
print([path for path in seen if secret.encode() in look(path)])
for path in sys.argv[2:]:
    try:
        os.listdir(path)
        print("entered", path)
    except OSError:
        pass
"""


def as_nobody(script: str, *words: str, text: str = "") -> str:
    done = subprocess.run(
        ["/usr/bin/python3", "-c", script, *words], input=text, capture_output=True, text=True,
        check=True, user="nobody", group="nogroup", extra_groups=[], cwd="/", timeout=60,
    )  # fmt: skip
    return done.stdout.strip()


@pytest.fixture
def open_place() -> Iterator[Path]:
    """A folder that other users may pass into, unlike pytest's own."""
    made = Path(os.path.realpath(subprocess.check_output(["mktemp", "-d"], text=True).strip()))
    made.chmod(0o755)
    yield made
    subprocess.run(["rm", "-rf", "--", made], check=True)


@as_root
def test_another_user_reads_no_secret(open_place: Path) -> None:
    server = EmbeddedServer(open_place / "data")
    dsn = server.acquire()
    if Path(f"/proc/{server.status().pid}").stat().st_uid == 65534:
        pytest.skip("the server itself runs as nobody here: apt-get install postgresql")
    password = with_password(dsn).partition(":")[2].partition("@")[0].partition(":")[2]
    psql = find_programs(None, None).path("psql")
    with subprocess.Popen(
        [psql, dsn, "-c", "SELECT pg_sleep(30)"], stdout=subprocess.DEVNULL
    ) as sh:
        folders = [str(socket_of(server)), str(server.status().data_folder)]
        seen = as_nobody(LOOK, str(open_place / "data"), *folders, text=password)
        sh.kill()
    assert seen == "[]"
    with pytest.raises(subprocess.CalledProcessError):
        as_nobody(
            "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])",
            str(socket_of(server) / ".s.PGSQL.5432"),
        )
    server.release()


def test_whoever_takes_the_port_after_a_crash_is_told_nothing(data_dir: Path) -> None:
    port = free_port()
    server = EmbeddedServer(data_dir, port=port)
    dsn = server.acquire()
    assert f":{port}/" in dsn
    kill_postmaster(server)
    with socket.create_server(("127.0.0.1", port)) as thief:
        thief.settimeout(1.0)
        with pytest.raises(OSError, match="refused"):
            ask(dsn)  # as a pool would that lost its connections
        with pytest.raises(UnavailableError, match=f"Port {port} is in use"):
            server.ensure_running()
        with pytest.raises(TimeoutError):
            thief.accept()
    assert server.ensure_running() == dsn
    assert quote(str(socket_of(server)), safe="") in dsn
    server.release()
