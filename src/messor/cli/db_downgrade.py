"""`messor db downgrade`: list the data that would be lost, then ask for confirmation."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict

import click

from messor.cli.output import json_option, print_json, print_table, run
from messor.core.terminal import say
from messor.errors import ConflictError, UsageError
from messor.settings import Settings
from messor.store.database import Database
from messor.store.losses import DowngradeLoss, losses, revisions_below
from messor.store.session import server_dsn


@click.command(context_settings={"ignore_unknown_options": True})  # -1 is a revision
@click.argument("revision", default="-1")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--dry-run", is_flag=True, help="Only list what would be lost.")
@json_option
def downgrade(revision: str, yes: bool, dry_run: bool, as_json: bool) -> None:
    """Downgrade the database (one revision by default). Data of dropped tables is lost.

    What would be lost is listed first. Without --yes you are asked to confirm; without a terminal
    the command refuses.

    \b
    Example:
      messor db dump before.sql
      messor db downgrade 001 --dry-run
      messor db downgrade 001
    """
    run(_downgrade(revision, confirmed=yes, dry_run=dry_run, as_json=as_json))


async def _downgrade(revision: str, *, confirmed: bool, dry_run: bool, as_json: bool) -> None:
    async with server_dsn(Settings()) as dsn:
        async with Database(dsn, pool_size=1) as database:
            current = await database.revision()
            if current is None:
                raise ConflictError("The database has no revision, so it cannot be downgraded.")
            target, undone = revisions_below(current, revision)
            async with database.connection() as connection:
                found = await losses(connection, undone)
        _print_losses(found, current, target, as_json=as_json)
        if dry_run:
            return
        _require_confirmation(current, target, confirmed=confirmed)
        from messor.store import migrate  # noqa: PLC0415 - slow to load

        await asyncio.to_thread(migrate.downgrade, dsn, target)
        say(f"The database is at revision {'none' if target == 'base' else target}.")


def _print_losses(found: list[DowngradeLoss], current: str, target: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"from": current, "to": target, "losses": [asdict(loss) for loss in found]})
        return
    held = [loss for loss in found if loss.rows]
    say(f"Downgrading from revision {current} to {target} drops:")
    if held:
        rows = [(loss.revision, loss.what, f"{loss.rows:,}") for loss in held]
        print_table(("revision", "object", "rows lost"), rows)
    else:
        say("  no data")


def _require_confirmation(current: str, target: str, *, confirmed: bool) -> None:
    if confirmed:
        return
    if not sys.stdin.isatty():
        raise UsageError(
            "Nothing was changed. Make a backup (messor db dump FILE), then run again with --yes."
        )
    say("An upgrade restores the tables, not their rows. To back up first: messor db dump FILE")
    if not click.confirm(f"Downgrade from {current} to {target}?", err=True):
        raise ConflictError("Nothing was changed.")
