"""Starts and stops the embedded server. The caller holds the start lock and knows who else uses it."""

from __future__ import annotations

import os
import shlex
import time
from pathlib import Path

from messor.core.logs import room_logger
from messor.errors import UnavailableError
from messor.store.dsn import loopback_dsn, socket_dsn
from messor.store.embedded.account import Account, choose_account
from messor.store.embedded.cluster import (
    admit_by_socket,
    clear_unfinished,
    make_cluster,
    write_settings,
)
from messor.store.embedded.folder import DATABASE, ROLE, DataFolder
from messor.store.embedded.passwords import new_password, scram_verifier
from messor.store.embedded.ports import require_free
from messor.store.embedded.postmaster import Postmaster, clear_remains, find_postmaster
from messor.store.embedded.probe import PasswordRefusedError, responds, set_password
from messor.store.embedded.programs import Programs, find_programs
from messor.store.embedded.sockets import (
    clear_sockets,
    prepare_socket_folder,
    remove_socket_folder,
)

START_LIMIT_SECONDS = 120.0
STOP_LIMIT_SECONDS = 60.0
_SOCKET_PORT = (
    5432  # part of the socket's name, and PostgreSQL's default: clients need not specify it
)
_TRIES = 5
_POLL_SECONDS = 0.05

logger = room_logger(__name__)


def bring_up(folder: DataFolder, bin_dir: Path | None, port: int) -> str:
    """Return the DSN of the running server, verified by a login; start it if necessary."""
    deadline = time.monotonic() + START_LIMIT_SECONDS
    since = folder.log.stat().st_size if folder.log.exists() else 0
    while time.monotonic() < deadline:
        server = find_postmaster(folder.data)
        if server is None:
            _start(folder, bin_dir, port)
        elif server.is_ready and _accepts_password(folder, server):
            return dsn_of(folder, server)
        else:
            time.sleep(_POLL_SECONDS)
    # It is left running: a long recovery continues, and the next user finds it further along.
    raise UnavailableError(
        f"The embedded database in {folder.base} is not ready after {START_LIMIT_SECONDS:.0f} s; "
        f"it may still be recovering: try again later. Its log ends:\n{folder.log_tail(since=since)}"
    )


def dsn_of(folder: DataFolder, server: Postmaster) -> str:
    """The DSN by the socket; a server still running from an earlier release only has loopback."""
    if server.socket is None:
        return loopback_dsn(ROLE, DATABASE, port=server.port, passfile=folder.passfile)
    return socket_dsn(
        ROLE, DATABASE, socket=server.socket, port=server.port, passfile=folder.passfile
    )


def rotate_password(folder: DataFolder, dsn: str) -> None:
    """Change the running server's password. After an interruption, `_accepts_password` completes it.

    Open connections stay open, and new ones read the file again.
    """
    password = new_password()
    folder.write_password(folder.next_passfile, password)
    set_password(dsn, scram_verifier(password))
    folder.promote_password()


def _accepts_password(folder: DataFolder, server: Postmaster) -> bool:
    """Whether the server accepts the current password, or the one of an interrupted rotation."""
    folder.require_password()
    dsn = dsn_of(folder, server)
    try:
        is_let_in = responds(dsn, folder.passfile)
    except PasswordRefusedError:
        if not folder.next_passfile.exists() or not responds(dsn, folder.next_passfile):
            raise
        folder.promote_password()
        return True
    if is_let_in:
        folder.next_passfile.unlink(missing_ok=True)
    return is_let_in


def bring_down(folder: DataFolder, bin_dir: Path | None) -> None:
    """Stop the server cleanly; one that does not stop in time is terminated, which loses nothing."""
    if find_postmaster(folder.data) is None:
        return
    programs = find_programs(bin_dir, folder.data_version())
    account = choose_account(folder, programs)
    for mode in ("fast", "immediate"):
        _pg_ctl(folder, programs, account, "stop", "-m", mode, "-t", f"{STOP_LIMIT_SECONDS:.0f}")
        if find_postmaster(folder.data) is None:
            remove_socket_folder(folder)
            logger.info("stopped the embedded database in %s", folder.base)
            return
    raise UnavailableError(
        f"The embedded database in {folder.base} does not stop. Its log ends:\n{folder.log_tail()}"
    )


def _start(folder: DataFolder, bin_dir: Path | None, asked_port: int) -> None:
    programs = find_programs(bin_dir, folder.data_version())
    account = choose_account(folder, programs)
    _prepare(folder, programs, account)
    socket = prepare_socket_folder(folder, account)
    for attempt in range(1, _TRIES + 1):
        clear_remains(folder.data)
        clear_sockets(socket)
        if asked_port:
            require_free(asked_port)
        since = folder.log.stat().st_size if folder.log.exists() else 0
        if _pg_ctl(folder, programs, account, "start", *_start_options(socket, asked_port)):
            logger.info("started PostgreSQL %s in %s", programs.version, folder.base)
            return
        if find_postmaster(folder.data) is not None:
            return  # still recovering: the caller waits for it
        folder.check_space()
        # A killed server's shared memory may take a moment to be released.
        time.sleep(0.2 * attempt)
    raise UnavailableError(
        f"The embedded database in {folder.base} does not start. Its log ends:\n"
        f"{folder.log_tail(since=since)}"
    )


def _prepare(folder: DataFolder, programs: Programs, account: Account) -> None:
    """Everything the server needs in the folder before it can start."""
    clear_unfinished(folder)
    write_settings(folder)
    if folder.data_version() is None:
        if folder.data.exists():
            raise UnavailableError(
                f"{folder.data} is not a PostgreSQL data folder: move it away, and a new one is created."
            )
        started = time.monotonic()
        make_cluster(folder, programs, account)
        logger.info("created %s in %.1f s", folder.data, time.monotonic() - started)
        return
    if account.uid is not None and folder.data.stat().st_uid == 0:
        account.give_tree(folder.data)  # restored from a backup by root
    admit_by_socket(folder, account)
    (folder.base / "port").unlink(missing_ok=True)  # written by earlier releases; no longer true


def _start_options(socket: Path, port: int) -> list[str]:
    """Options that no configuration file may override: how to connect. pg_ctl passes them to a
    shell.
    """
    place = str(socket).replace('"', '""')
    options = {
        "listen_addresses": "127.0.0.1" if port else "",
        "unix_socket_directories": f'"{place}"',
        "unix_socket_permissions": "0700",
        "port": str(port or _SOCKET_PORT),
    }
    line = " ".join(f"-c {shlex.quote(f'{name}={value}')}" for name, value in options.items())
    return ["-t", f"{START_LIMIT_SECONDS:.0f}", "-o", line]


def _pg_ctl(folder: DataFolder, programs: Programs, account: Account, *arguments: str) -> bool:
    """Run pg_ctl; its output and the server's go to the log.

    The data folder is passed in the environment: pg_ctl would put an argument into a shell command.
    """
    log = folder.open_log()
    try:
        answer = account.run(
            [programs.path("pg_ctl"), "-s", "-w", *arguments],
            timeout=START_LIMIT_SECONDS + 30,
            env={"PGDATA": str(folder.data)},
            output=log,
        )
    finally:
        os.close(log)
    return answer.returncode == 0
