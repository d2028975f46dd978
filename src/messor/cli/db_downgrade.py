"""`messor db downgrade`: says what would be lost, and asks."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict

import click

from messor.cli.db_server import server_dsn
from messor.cli.output import json_option, print_json, print_table, run
from messor.core.terminal import say
from messor.errors import ConflictError, UsageError
from messor.settings import Settings
from messor.store import migrate
from messor.store.database import Database
from messor.store.losses import DowngradeLoss, losses, revisions_below


@click.command(context_settings={"ignore_unknown_options": True})  # -1 is no option
@click.argument("revision", default="-1")
@click.option("--yes", is_flag=True, help="Do it without asking.")
@click.option("--dry-run", is_flag=True, help="Only say what would be lost.")
@json_option
def downgrade(revision: str, yes: bool, dry_run: bool, as_json: bool) -> None:
    """Take the database back (one revision by default). Data of dropped tables is lost.

    What would be lost is listed first. Without --yes it asks, and away from a terminal it refuses.

    \b
    Example:
      messor db dump before.sql
      messor db downgrade 024 --dry-run
      messor db downgrade 024
    """
    run(_downgrade(revision, is_sure=yes, dry_run=dry_run, as_json=as_json))


async def _downgrade(revision: str, *, is_sure: bool, dry_run: bool, as_json: bool) -> None:
    async with server_dsn(Settings()) as dsn:
        async with Database(dsn, pool_size=1) as database:
            current = await database.revision()
            if current is None:
                raise ConflictError("The database has no revision: there is nothing to take back.")
            target, undone = revisions_below(current, revision)
            async with database.connection() as connection:
                found = await losses(connection, undone)
        _tell(found, current, target, as_json=as_json)
        if dry_run:
            return
        _ask(current, target, is_sure=is_sure)
        await asyncio.to_thread(migrate.downgrade, dsn, target)
        say(f"The database is at revision {'none' if target == 'base' else target}.")


def _tell(found: list[DowngradeLoss], current: str, target: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"from": current, "to": target, "losses": [asdict(loss) for loss in found]})
        return
    held = [loss for loss in found if loss.rows]
    say(f"Going back from revision {current} to {target} takes away:")
    if held:
        rows = [
            (
                loss.revision,
                loss.what,
                f"{loss.rows:,}",
                "made again by an upgrade" if loss.is_made_again else "lost",
            )
            for loss in held
        ]
        print_table(("revision", "what", "rows", "then"), rows)
    else:
        say("  nothing that holds data")


def _ask(current: str, target: str, *, is_sure: bool) -> None:
    if is_sure:
        return
    if not sys.stdin.isatty():
        raise UsageError(
            "Nothing was changed. Make a backup (messor db dump FILE), then add --yes to do it."
        )
    say("An upgrade brings the tables back, not what was in them. Backup: messor db dump FILE")
    if not click.confirm(f"Go back from {current} to {target}?", err=True):
        raise ConflictError("Nothing was changed.")
