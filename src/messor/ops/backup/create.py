"""Makes a backup: the database as of one moment, then the archive, which holds all that it points at.

Bytes are in the archive before their rows commit, so an archive that is copied later is complete.
Old backups are removed by `prune`.
"""

from __future__ import annotations

import asyncio
import secrets
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import asyncpg
import msgspec

from messor.archive.storage import FOLDER
from messor.core.masking import mask
from messor.errors import MessorError, UnavailableError
from messor.fetch.proxies.seal import KEY_FILE
from messor.ledger.events import Event, record
from messor.ops.backup import manifest as manifests
from messor.ops.backup.archive_copy import SEGMENTS, copy_segments
from messor.ops.backup.manifest import Manifest, piece_name
from messor.ops.backup.place import CHUNK_BYTES, BackupPlace, StoredFile, plain_errors
from messor.ops.backup.sealed_keys import seal
from messor.settings import Settings
from messor.store.client_programs import program_for
from messor.store.connection import connect
from messor.store.database import Database
from messor.store.dsn import for_child
from messor.store.revisions import newest

DATABASE, SETTINGS, KEYS = "database.dump", "settings.json", "keys.sealed"
COUNTED = (
    "domains", "pages", "page_snapshots", "snapshot_texts", "records", "products", "events",
    "changes",
)  # fmt: skip

BEGIN = "INSERT INTO messor.backups (name, place, method) VALUES ($1, $2, $3)"
DONE = "UPDATE messor.backups SET finished_at = messor.clock(), bytes = $2 WHERE name = $1"
FAILED = "UPDATE messor.backups SET error = left($2, 500) WHERE name = $1 AND finished_at IS NULL"
REMOVED = """
UPDATE messor.backups SET removed_at = messor.clock()
 WHERE place = $1 AND removed_at IS NULL AND finished_at IS NOT NULL AND name <> ALL ($2::text[])
"""

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Installation:
    """What is backed up."""

    database: Database
    dsn: str
    settings: Settings


async def create(
    installation: Installation, place: BackupPlace, *, actor: str, progress: Progress
) -> Manifest:
    """Make a backup; a failed one leaves no manifest, and is said in `backups`."""
    started = datetime.now(UTC)
    name = f"{started:%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
    await installation.database.fetch(BEGIN, name, place.url, "dump")
    try:
        made = await _create(installation, place, name, started, progress)
    except (MessorError, asyncpg.PostgresError, OSError) as error:
        await installation.database.fetch(FAILED, name, str(error))
        raise
    async with installation.database.transaction() as connection:
        await connection.execute(DONE, name, made.bytes)
        told = {"backup": name, "place": place.url, "bytes": made.bytes}
        await record(connection, [Event("backup.created", actor, data=told)])
    return made


async def _create(
    installation: Installation, place: BackupPlace, name: str, started: datetime, progress: Progress
) -> Manifest:
    settings = installation.settings
    program = await program_for("pg_dump", installation.dsn, settings.postgres_bin)
    earlier = await asyncio.to_thread(manifests.found_at, place)
    async with _moment(installation.dsn) as (held, snapshot):
        progress("dumping the database")
        counts = await counted(held)
        rows = [(row["name"], row["committed"]) for row in await held.fetch(SEGMENTS)]
        facts = await held.fetchrow("SELECT current_setting('server_version') AS postgres")
        dumped = await asyncio.to_thread(_dump, program, installation.dsn, snapshot, place, name)
    with plain_errors(place):
        kept, elsewhere, remote = await asyncio.to_thread(
            copy_segments, settings.data_dir / FOLDER, rows, place, earlier, progress
        )
        files = [dumped, *await asyncio.to_thread(_small_files, settings, place, name)]
    made = Manifest(
        name=name,
        started_at=started,
        finished_at=datetime.now(UTC),
        method="dump",
        messor=version("messor"),
        revision=newest(),
        postgres=facts["postgres"],
        files=files,
        segments=kept,
        elsewhere=elsewhere,
        remote=remote,
        counts=counts,
        has_keys=any(each.name.endswith(KEYS) for each in files),
    )
    await asyncio.to_thread(manifests.write, place, made)
    return made


@asynccontextmanager
async def _moment(dsn: str) -> AsyncIterator[tuple[asyncpg.Connection, str]]:
    """A transaction that sees one moment, and the name under which pg_dump sees the same."""
    raw = await connect(dsn, server_settings={"idle_in_transaction_session_timeout": "0"})
    try:
        async with raw.transaction(isolation="repeatable_read", readonly=True):
            yield raw, await raw.fetchval("SELECT pg_export_snapshot()")
    finally:
        await raw.close()


async def counted(source: Any) -> dict[str, int]:
    """Rows of the tables by which a restore is compared."""
    return {
        table: await source.fetchval(f"SELECT count(*) FROM messor.{table}") for table in COUNTED
    }


def _dump(program: str, dsn: str, snapshot: str, place: BackupPlace, name: str) -> StoredFile:
    bare, hidden = for_child(dsn)
    command = [
        program, "--format=custom", "--compress=1", "--no-owner", "--schema=messor",
        "--schema=wellness", "--schema=forager", "--schema=approval", "--schema=funding",
        "--schema=orbit", f"--snapshot={snapshot}", f"--dbname={bare}",
    ]  # fmt: skip
    with plain_errors(place), place.create(f"{name}/{DATABASE}") as sink:
        passed(command, hidden, sink.write)
    return sink.written


def passed(command: Sequence[str], hidden: dict[str, str], write: Callable[[bytes], int]) -> None:
    """Run a program and pass on what it prints; raises a sentence if it fails."""
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(  # noqa: S603 - PostgreSQL's programs with our own arguments
            command,
            stdout=subprocess.PIPE,
            stderr=complaints,
            env={"PATH": "/usr/bin:/bin", **hidden},
        )
        assert process.stdout is not None
        try:
            while chunk := process.stdout.read(CHUNK_BYTES):
                write(chunk)
        finally:
            process.stdout.close()
            code = process.wait()
        if code != 0:
            complaints.seek(0)
            said = complaints.read(2_000).decode("utf-8", "replace").strip()
            raise UnavailableError(f"The database could not be dumped: {said}")


def _small_files(settings: Settings, place: BackupPlace, name: str) -> list[StoredFile]:
    """Settings without secrets, and the key if there is a passphrase to seal it with."""
    shown = mask(settings.model_dump(mode="json", exclude_defaults=True))
    contents = {SETTINGS: msgspec.json.format(msgspec.json.encode(shown), indent=1)}
    key = settings.data_dir / KEY_FILE
    if settings.backup_passphrase is not None and key.exists():
        contents[KEYS] = seal(key.read_bytes(), settings.backup_passphrase.get_secret_value())
    made = []
    for file_name, content in contents.items():
        with place.create(f"{name}/{file_name}") as sink:
            sink.write(content)
        made.append(sink.written)
    return made


async def prune(installation: Installation, place: BackupPlace, keep: int) -> list[str]:
    """Remove all but the newest backups of a place, and what only they needed; their names."""
    found = await asyncio.to_thread(manifests.found_at, place)
    old, kept = found[:-keep], found[-keep:]
    await asyncio.to_thread(_remove, place, old, kept)
    await installation.database.fetch(REMOVED, place.url, [each.name for each in kept])
    return [each.name for each in old]


def _remove(place: BackupPlace, old: Sequence[Manifest], kept: Sequence[Manifest]) -> None:
    needed = _piece_names(kept)
    with plain_errors(place):
        for manifest in old:
            place.remove(f"{manifest.name}/{manifests.MANIFEST}")  # first: without it there is none
            place.remove(f"{manifest.name}/")
        for name in sorted(_piece_names(old) - needed):
            place.remove(name)


def _piece_names(found: Sequence[Manifest]) -> set[str]:
    return {
        piece_name(segment.name, piece)
        for manifest in found
        for segment in manifest.segments
        for piece in segment.pieces
    }
