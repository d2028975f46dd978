"""Brings the embedded server up and down. The caller holds the start lock; who may still need the
server is not known here.
"""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path

from messor.errors import UnavailableError
from messor.store.embedded.account import Account, choose_account
from messor.store.embedded.cluster import (
    DATABASE,
    ROLE,
    clear_unfinished,
    make_cluster,
    write_settings,
)
from messor.store.embedded.folder import Folder
from messor.store.embedded.ports import choose_port
from messor.store.embedded.postmaster import clear_remains, find_postmaster
from messor.store.embedded.probe import answers
from messor.store.embedded.programs import Programs, find_programs

START_LIMIT_SECONDS = 120.0
STOP_LIMIT_SECONDS = 60.0
_TRIES = 5
_POLL_SECONDS = 0.05

logger = logging.getLogger(__name__)


def bring_up(folder: Folder, bin_dir: Path | None, port: int) -> str:
    """Return the DSN of the server, running and proven by a login; start it if it is not there."""
    deadline = time.monotonic() + START_LIMIT_SECONDS
    since = folder.log.stat().st_size if folder.log.exists() else 0
    while time.monotonic() < deadline:
        server = find_postmaster(folder.data)
        if server is None:
            _start(folder, bin_dir, port)
        elif answers(server.port, folder.password()):
            return f"postgresql://{ROLE}:{folder.password()}@127.0.0.1:{server.port}/{DATABASE}"
        else:
            time.sleep(_POLL_SECONDS)
    # It is left alone: a long recovery goes on, and the next user finds it further.
    raise UnavailableError(
        f"The embedded database in {folder.base} is not ready after {START_LIMIT_SECONDS:.0f} s; "
        f"it may still be recovering: try again later. Its log ends:\n{folder.log_tail(since=since)}"
    )


def bring_down(folder: Folder, bin_dir: Path | None) -> None:
    """Stop the server cleanly; one that does not stop in time is cut off, which loses nothing."""
    if find_postmaster(folder.data) is None:
        return
    programs = find_programs(bin_dir, folder.data_version())
    account = choose_account(folder, programs)
    for mode in ("fast", "immediate"):
        _pg_ctl(folder, programs, account, "stop", "-m", mode, "-t", f"{STOP_LIMIT_SECONDS:.0f}")
        if find_postmaster(folder.data) is None:
            logger.info("stopped the embedded database in %s", folder.base)
            return
    raise UnavailableError(
        f"The embedded database in {folder.base} does not stop. Its log ends:\n{folder.log_tail()}"
    )


def _start(folder: Folder, bin_dir: Path | None, asked_port: int) -> None:
    programs = find_programs(bin_dir, folder.data_version())
    account = choose_account(folder, programs)
    _prepare(folder, programs, account)
    for attempt in range(1, _TRIES + 1):
        clear_remains(folder.data)
        port = choose_port(asked_port, folder.kept_port())
        folder.keep_port(port)
        since = folder.log.stat().st_size if folder.log.exists() else 0
        if _pg_ctl(folder, programs, account, "start", *_start_options(port)):
            logger.info("started PostgreSQL %s in %s", programs.version, folder.base)
            return
        if find_postmaster(folder.data) is not None:
            return  # still recovering: the caller waits for it
        folder.check_space()
        # A killed server's shared memory may take a moment to be let go.
        time.sleep(0.2 * attempt)
    raise UnavailableError(
        f"The embedded database in {folder.base} does not start. Its log ends:\n"
        f"{folder.log_tail(since=since)}"
    )


def _prepare(folder: Folder, programs: Programs, account: Account) -> None:
    """Everything the server needs in the folder before it can start."""
    clear_unfinished(folder)
    write_settings(folder)
    if folder.data_version() is None:
        if folder.data.exists():
            raise UnavailableError(
                f"{folder.data} is not a PostgreSQL data folder: move it away, and a new one is made."
            )
        started = time.monotonic()
        make_cluster(folder, programs, account)
        logger.info("made %s in %.1f s", folder.data, time.monotonic() - started)
    elif account.uid is not None and folder.data.stat().st_uid == 0:
        account.give_tree(folder.data)  # restored from a backup by root


def _start_options(port: int) -> list[str]:
    """What no configuration file may change: loopback TCP is the only way in."""
    options = f"-c listen_addresses=127.0.0.1 -c unix_socket_directories= -p {port}"
    return ["-t", f"{START_LIMIT_SECONDS:.0f}", "-o", options]


def _pg_ctl(folder: Folder, programs: Programs, account: Account, *arguments: str) -> bool:
    """Run pg_ctl, whose output and the server's go to the log.

    The data folder goes by the environment: pg_ctl would put an argument into a shell's line.
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
