"""Puts a backup back into an empty data folder or database, and compares it with what it held."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from messor.archive.storage import FOLDER
from messor.errors import AuditFailedError, UnavailableError, UsageError
from messor.fetch.proxies.seal import KEY_FILE
from messor.governance import erasure, promotion
from messor.ledger.events import Event, record
from messor.ops.backup import manifest as manifests
from messor.ops.backup.archive_copy import put_back
from messor.ops.backup.create import DATABASE, KEYS, counted
from messor.ops.backup.manifest import Manifest
from messor.ops.backup.place import BackupPlace, plain_errors
from messor.ops.backup.sealed_keys import unseal
from messor.settings import Settings
from messor.store import migrate
from messor.store.client_programs import program_for
from messor.store.database import Database
from messor.store.dsn import for_child
from messor.store.session import open_session, server_dsn

Progress = Callable[[str], None]

ACTOR = "restore"
IS_EMPTY = "SELECT to_regnamespace('messor') IS NULL"


@dataclass(frozen=True, slots=True)
class Restored:
    """What was put back."""

    name: str
    counts: dict[str, int]
    segments: int
    erased: int  # erasures that were repeated
    with_keys: bool


async def restore(
    settings: Settings,
    place: BackupPlace,
    manifest: Manifest,
    *,
    with_keys: bool = True,
    progress: Progress,
) -> Restored:
    """Check the backup, then put it back; raises a sentence before anything is changed."""
    progress("checking the backup")
    faults = await asyncio.to_thread(manifests.faults, place, manifest)
    if faults:
        raise AuditFailedError(
            f"Backup {manifest.name} is damaged: {faults[0]} ({len(faults)} faults in all). "
            "Restore an older one: --name"
        )
    keys = _keys(settings, place, manifest) if with_keys else None
    _require_empty_folder(settings)
    async with server_dsn(settings) as dsn:
        await _require_empty_database(dsn)
        written = await asyncio.to_thread(
            put_back, settings.data_dir / FOLDER, manifest, place, progress
        )
        if keys is not None:
            _write_key(settings.data_dir / KEY_FILE, keys)
        progress("restoring the database")
        program = await program_for("pg_restore", dsn, settings.postgres_bin)
        await asyncio.to_thread(_load, program, dsn, place, manifest)
        async with Database(dsn, pool_size=2) as database:
            counts = await counted(database)
            differing = {name for name, count in manifest.counts.items() if counts[name] != count}
        if differing:
            raise AuditFailedError(
                f"Restored, but with other counts: {', '.join(sorted(differing))}."
            )
        await asyncio.to_thread(migrate.upgrade, dsn)
    progress("repeating erasures")
    return Restored(
        manifest.name, counts, written, await _erase_again(settings, manifest), keys is not None
    )


def _keys(settings: Settings, place: BackupPlace, manifest: Manifest) -> bytes | None:
    """The key in the backup, opened; None if it has none."""
    if not manifest.has_keys:
        return None
    if settings.backup_passphrase is None:
        raise UsageError(
            "The backup holds sealed keys: set MESSOR_BACKUP_PASSPHRASE to the passphrase it was "
            "made with, or restore without them: --without-keys"
        )
    sealed = b"".join(place.read(f"{manifest.name}/{KEYS}"))
    found = unseal(sealed, settings.backup_passphrase.get_secret_value())
    path = settings.data_dir / KEY_FILE
    if path.exists() and path.read_bytes() != found:
        raise UsageError(f"{path} is another key than the one in the backup: move it away first.")
    return found


def _write_key(path: Path, key: bytes) -> None:
    if not path.exists():
        path.touch(mode=0o600)
        path.write_bytes(key)


def _require_empty_folder(settings: Settings) -> None:
    data = settings.data_dir / "postgres" / "data"
    if not settings.database_url and data.exists():
        raise UsageError(
            f"{settings.data_dir} already has a database. Restore into an empty folder: set "
            "MESSOR_DATA_DIR, or move the old one away."
        )


async def _require_empty_database(dsn: str) -> None:
    async with Database(dsn, pool_size=1) as database:
        if not await database.fetchval(IS_EMPTY):
            raise UsageError(
                "The database is not empty: it has the schema messor. Restore into a new database."
            )


def _load(program: str, dsn: str, place: BackupPlace, manifest: Manifest) -> None:
    """Pass the dump to pg_restore, which does all or nothing."""
    bare, hidden = for_child(dsn)
    command = [
        program, "--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error",
        f"--dbname={bare}",
    ]  # fmt: skip
    with tempfile.TemporaryFile() as complaints, plain_errors(place):
        process = subprocess.Popen(  # noqa: S603 - PostgreSQL's programs with our own arguments
            command, stdin=subprocess.PIPE, stdout=complaints, stderr=complaints,
            env={"PATH": "/usr/bin:/bin", **hidden},
        )  # fmt: skip
        assert process.stdin is not None
        try:
            for chunk in place.read(f"{manifest.name}/{DATABASE}"):
                process.stdin.write(chunk)
        except BrokenPipeError:
            pass  # it says below why it ended
        finally:
            # Also if the backup cannot be read: without its end nothing is committed.
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            code = process.wait()
        if code != 0:
            complaints.seek(0)
            said = complaints.read(2_000).decode("utf-8", "replace").strip()
            raise UnavailableError(f"The database could not be restored: {said}")


async def _erase_again(settings: Settings, manifest: Manifest) -> int:
    """What was erased before the backup may be in older pieces of the archive."""
    async with open_session(settings, pool_size=2) as session:
        erased = await erasure.replay(session.database)
        async with session.database.transaction() as connection:
            restored = Event("backup.restored", ACTOR, data={"name": manifest.name})
            await record(connection, [restored])
            await erasure.finish(connection)
        await promotion.let_go(settings, session.database)
    return erased
