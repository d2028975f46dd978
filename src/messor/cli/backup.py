"""`messor backup`: backups of database, archive, settings and key; checked, and put back."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import click

from messor.cli.output import emit, json_flag, json_option, print_json, print_table, run
from messor.cli.session import LOCAL_ADMIN
from messor.core.terminal import say
from messor.errors import AuditFailedError, UsageError
from messor.ops.backup import create as creation
from messor.ops.backup import manifest as manifests
from messor.ops.backup.create import Installation
from messor.ops.backup.manifest import Manifest
from messor.ops.backup.place import BackupPlace, existing_place, place_at
from messor.ops.backup.restore import restore as put_back
from messor.settings import Settings
from messor.store.session import open_session, server_dsn

HEAD = ("name", "method", "bytes", "pages", "snapshots", "revision", "keys")

where_argument = click.argument("where", required=False)
name_option = click.option("--name", help="The backup; default: the newest.")


@click.group()
def backup() -> None:
    """Make backups, list, verify and restore them.

    \b
    Example:
      messor backup create -o /srv/backups
      MESSOR_DATA_DIR=new messor backup restore /srv/backups
    """


@backup.command()
@click.option("-o", "--to", "where", help="Folder or object store. Default: MESSOR_BACKUP_TO.")
@json_flag
def create(where: str | None, as_json: bool) -> None:
    """Back up the database and this machine's archive, while everything runs.

    A backup holds the database as of one moment, the archive's bytes (each backup adds what is new), the
    settings without secrets, and, with MESSOR_BACKUP_PASSPHRASE, the sealed key. An archive in an object
    store stays there: what the backup refers to is kept until the backup is removed.

    \b
    Example:
      messor backup create -o /srv/backups
    """
    made = run(_create(where))
    if as_json:
        print_json(_facts(made))
    else:
        emit(f"Backup {made.name}: {made.bytes:,} bytes, {made.counts['pages']:,} pages.")
    if made.elsewhere:
        say(
            f"{made.elsewhere:,} segments of the archive are on other machines and are not in it: "
            "use an object store for the archive (messor archive move), or copy their folders."
        )
    if not made.has_keys:
        say(
            "It holds no key: without secret.key (or MESSOR_SECRET_KEY) passwords of proxies and "
            "secrets of webhooks cannot be read again. To include it: MESSOR_BACKUP_PASSPHRASE"
        )


async def _create(where: str | None) -> Manifest:
    settings = Settings()
    place = place_at(_where(where, settings), settings)
    async with server_dsn(settings) as dsn, open_session(settings, pool_size=2) as session:
        source = Installation(session.database, dsn, settings)
        return await creation.create(source, place, actor=LOCAL_ADMIN, progress=say)


@backup.command("list")
@where_argument
@json_option
def list_backups(where: str | None, as_json: bool) -> None:
    """List complete backups, oldest first.

    \b
    Example:
      messor backup list /srv/backups
    """
    settings = Settings()
    found = manifests.found_at(existing_place(_where(where, settings), settings))
    if as_json:
        print_json([_facts(each) for each in found])
        return
    print_table(
        HEAD,
        [
            (
                each.name,
                each.method,
                f"{each.bytes:,}",
                f"{each.counts['pages']:,}",
                f"{each.counts['page_snapshots']:,}",
                each.revision,
                "sealed" if each.has_keys else "none",
            )
            for each in found
        ],
    )


@backup.command()
@where_argument
@name_option
@click.option("--trial", is_flag=True, help="Also restore it into a temporary server.")
@json_option
def verify(where: str | None, name: str | None, trial: bool, as_json: bool) -> None:
    """Read a backup and compare sizes and hashes; with --trial restore it and compare counts.

    Exits with 8 if something is missing or changed.

    \b
    Example:
      messor backup verify /srv/backups --trial
    """
    settings, place, manifest = _chosen(where, name)
    faults = manifests.faults(place, manifest)
    if trial and not faults:
        with tempfile.TemporaryDirectory(prefix="messor-trial-") as folder:
            Path(folder).chmod(0o711)  # the server's own account must pass
            run(_try(settings, place, manifest, Path(folder)))
    if as_json:
        print_json({"name": manifest.name, "clean": not faults, "faults": faults, "trial": trial})
    if faults:
        raise AuditFailedError(f"Backup {manifest.name} is damaged: {'; '.join(faults[:5])}.")
    if not as_json:
        emit(f"Backup {manifest.name} is complete{' and can be restored' if trial else ''}.")


async def _try(settings: Settings, place: BackupPlace, manifest: Manifest, folder: Path) -> None:
    apart = settings.model_copy(update={"data_dir": folder, "database_url": None})
    await put_back(apart, place, manifest, with_keys=False, progress=say)


@backup.command()
@where_argument
@name_option
@click.option("--without-keys", is_flag=True, help="Leave the sealed key in the backup.")
@click.option("--yes", is_flag=True, help="Do not ask before writing into a given database.")
@json_option
def restore(
    where: str | None, name: str | None, without_keys: bool, yes: bool, as_json: bool
) -> None:
    """Restore a backup into an empty data folder, or into an empty database of a given server.

    The backup is checked first, upgraded to this release after, and what had been erased is erased again.
    Events, feed and webhooks go on behind all positions that were given out before.

    \b
    Example:
      MESSOR_DATA_DIR=new messor backup restore /srv/backups
      MESSOR_DATABASE_URL=postgresql://… messor backup restore s3://bucket/backups --yes
    """
    settings, place, manifest = _chosen(where, name)
    if settings.database_url and not yes:
        click.confirm(f"Restore {manifest.name} into the given database?", abort=True, err=True)
    done = run(put_back(settings, place, manifest, with_keys=not without_keys, progress=say))
    if as_json:
        print_json(done)
        return
    emit(
        f"Restored {done.name}: {done.counts['pages']:,} pages, {done.segments:,} segments written."
    )
    emit(f"{done.erased:,} erasures were repeated. To check the archive: messor archive verify")


@backup.command()
@where_argument
@click.option("--keep", type=click.IntRange(min=1), help="Default: MESSOR_BACKUP_KEEP.")
@json_option
def prune(where: str | None, keep: int | None, as_json: bool) -> None:
    """Remove all but the newest backups, and pieces of the archive that only they needed.

    \b
    Example:
      messor backup prune /srv/backups --keep 7
    """
    removed = run(_prune(where, keep))
    if as_json:
        print_json({"removed": removed})
    else:
        emit(f"{len(removed):,} backups were removed.")


async def _prune(where: str | None, keep: int | None) -> list[str]:
    settings = Settings()
    place = existing_place(_where(where, settings), settings)
    async with server_dsn(settings) as dsn, open_session(settings, pool_size=1) as session:
        source = Installation(session.database, dsn, settings)
        return await creation.prune(source, place, keep or settings.backup_keep)


def _where(given: str | None, settings: Settings) -> str:
    found = given or settings.backup_to
    if not found:
        raise UsageError(
            "Say where: give a folder or an URL such as s3://bucket/prefix, or set MESSOR_BACKUP_TO."
        )
    return found


def _chosen(where: str | None, name: str | None) -> tuple[Settings, BackupPlace, Manifest]:
    settings = Settings()
    place = existing_place(_where(where, settings), settings)
    return settings, place, manifests.load(place, name) if name else manifests.newest(place)


def _facts(made: Manifest) -> dict[str, Any]:
    return {
        "name": made.name,
        "method": made.method,
        "started_at": made.started_at,
        "finished_at": made.finished_at,
        "bytes": made.bytes,
        "revision": made.revision,
        "postgres": made.postgres,
        "counts": made.counts,
        "segments": len(made.segments),
        "segments_elsewhere": made.elsewhere,
        "segments_remote": made.remote,
        "has_keys": made.has_keys,
    }
