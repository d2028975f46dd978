"""Creates the embedded server's data folder: initdb, Messor's role and database, settings.

It is created under another name and renamed when complete and synced, so an interruption or a full
disk leaves nothing that looks like data. Running a server on it is left to `launch`.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from messor.errors import UnavailableError
from messor.store.embedded.account import Account
from messor.store.embedded.folder import DATABASE, ROLE, DataFolder, sync_directory
from messor.store.embedded.passwords import scram_verifier
from messor.store.embedded.programs import Programs

_FRESH = "data.new-"
_LIMIT_SECONDS = 120.0
# Only password logins, by the socket or (where configured) over loopback; the superuser of initdb
# has no password.
_BY_SOCKET = f"local all {ROLE} scram-sha-256\n"
_ACCESS = f"{_BY_SOCKET}host all {ROLE} 127.0.0.1/32 scram-sha-256\n"
# Settings after this line in postgresql.conf take precedence, so operators may override Messor
# there.
_INCLUDE = "\ninclude_if_exists '../server.conf'\n"

# A queue with many small updates on a small machine shared with the crawler: vacuum eagerly, sync
# rarely but always, leave the cores to the crawler. Clients receive their own errors, so the log is
# limited to the server's lifecycle and stays short.
_SETTINGS = """\
# Written by Messor at every start. Put your own settings at the end of data/postgresql.conf.
max_connections = 100
shared_buffers = 128MB
effective_cache_size = 512MB
work_mem = 8MB
maintenance_work_mem = 64MB
random_page_cost = 1.1
jit = off
max_parallel_workers_per_gather = 0
max_parallel_maintenance_workers = 0
max_locks_per_transaction = 128

synchronous_commit = on
wal_compression = on
max_wal_size = 2GB
min_wal_size = 256MB
checkpoint_timeout = 15min
checkpoint_completion_target = 0.9

autovacuum_naptime = 10s
autovacuum_max_workers = 2
autovacuum_vacuum_cost_limit = 2000
autovacuum_vacuum_scale_factor = 0.05
autovacuum_analyze_scale_factor = 0.05
autovacuum_vacuum_insert_scale_factor = 0.1

track_io_timing = on
update_process_title = off
password_encryption = scram-sha-256
timezone = 'UTC'
log_timezone = 'UTC'
log_min_messages = log
log_line_prefix = '%m [%p] '
log_checkpoints = off
log_lock_waits = on
"""


def write_settings(folder: DataFolder) -> None:
    """Write this release's settings; the server's account must be able to read them."""
    folder.write("server.conf", _SETTINGS, mode=0o644)


def clear_unfinished(folder: DataFolder) -> None:
    """Remove the remains of interrupted attempts to create a cluster."""
    for left in folder.base.glob(f"{_FRESH}*"):
        # An initdb that outlived its killed parent may still write there: the next start tries
        # again.
        shutil.rmtree(left, ignore_errors=True)


def make_cluster(folder: DataFolder, programs: Programs, account: Account) -> None:
    """Create `folder.data`, completely or not at all."""
    password = folder.make_password()
    folder.check_space()
    # A unique name: see `clear_unfinished`.
    fresh = Path(tempfile.mkdtemp(prefix=_FRESH, dir=folder.base))
    account.give(fresh)
    _initdb(folder, fresh, programs, account)
    _write_within(fresh / "pg_hba.conf", _ACCESS, os.O_TRUNC)
    _write_within(fresh / "postgresql.conf", _INCLUDE, os.O_APPEND)
    _run(account, folder, _single_user(fresh, programs), text=_role_and_database(password))
    # The steps above skip fsync; one pass over the finished folder costs a third of theirs.
    _run(account, folder, [programs.path("initdb"), "--sync-only", "-D", str(fresh)])
    fresh.rename(folder.data)
    sync_directory(folder.base)


def admit_by_socket(folder: DataFolder, account: Account) -> None:
    """Admit Messor to data of an earlier release, which had no socket."""
    access = folder.data / "pg_hba.conf"
    try:
        rules = access.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return  # the server's own error message is better
    if _BY_SOCKET in rules:
        return
    part = access.with_name("pg_hba.conf.messor")
    part.unlink(missing_ok=True)
    _write_within(part, _BY_SOCKET + rules, os.O_CREAT | os.O_EXCL)
    account.give(part)
    part.replace(access)
    sync_directory(folder.data)


def _initdb(folder: DataFolder, fresh: Path, programs: Programs, account: Account) -> None:
    initdb = [
        programs.path("initdb"), "-D", str(fresh), "-U", "postgres", "-A", "reject",
        "-E", "UTF8", "--no-sync", "--no-instructions",
    ]  # fmt: skip
    *preferred, last = _locales(programs)
    for locale in preferred:
        # A failing initdb leaves the folder empty, ready for the next try.
        if account.run([*initdb, *locale], timeout=_LIMIT_SECONDS).returncode == 0:
            return
    _run(account, folder, [*initdb, *last])


def _locales(programs: Programs) -> list[list[str]]:
    """Locale options, best first: the system may lack C.UTF-8, PostgreSQL before 17 its built-in
    one.
    """
    if programs.major < 17:
        return [["--locale=C.UTF-8"], ["--locale=C"]]
    builtin = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    return [[*builtin, "--locale=C.UTF-8"], [*builtin, "--locale=C"]]


def _single_user(fresh: Path, programs: Programs) -> list[str]:
    return [
        programs.path("postgres"), "--single", "-F", "-D", str(fresh),
        "-c", "exit_on_error=on", "-c", "log_min_messages=error", "template1",
    ]  # fmt: skip


def _role_and_database(password: str) -> str:
    """Statements for a stand-alone backend, which reads one per line."""
    return (
        f"CREATE ROLE {ROLE} LOGIN CREATEDB PASSWORD '{scram_verifier(password)}'\n"
        f"GRANT pg_monitor, pg_signal_backend TO {ROLE}\n"
        f"CREATE DATABASE {DATABASE} OWNER {ROLE}\n"
    )


def _write_within(path: Path, text: str, flag: int) -> None:
    """Write into the data folder, whose files keep their owner; never through a symlink."""
    fd = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | flag, 0o600)
    with os.fdopen(fd, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
        file.flush()
        os.fsync(fd)


def _run(
    account: Account, folder: DataFolder, command: list[str], *, text: str | None = None
) -> None:
    answer = account.run(command, timeout=_LIMIT_SECONDS, text=text)
    if answer.returncode != 0:
        folder.check_space()
        tail = "\n".join(answer.stdout.strip().splitlines()[-8:])
        raise UnavailableError(
            f"The embedded database could not be created in {folder.base}:\n{tail}"
        )
