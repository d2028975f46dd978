"""`messor db`: migrations and status; the other `db_*` modules hold the rest of the group."""

from __future__ import annotations

import asyncio

import click

from messor.cli.db_downgrade import downgrade
from messor.cli.db_programs import dump, shell, url
from messor.cli.db_secrets import rotate_key, rotate_password
from messor.cli.db_slow import slow
from messor.cli.output import json_option, print_json, run
from messor.core.terminal import say
from messor.settings import Settings
from messor.store import revisions
from messor.store.database import FOLLOW_ANYHOW, Database
from messor.store.session import embedded_server, server_dsn


@click.group()
def db() -> None:
    """Upgrade, downgrade, dump or inspect the database.

    \b
    Example:
      messor db upgrade
    """


@db.command()
@click.argument("revision", default="head")
def upgrade(revision: str) -> None:
    """Upgrade the database to a revision (the newest by default).

    \b
    Example:
      messor db upgrade
    """
    run(_upgrade(revision))


@db.command()
@json_option
def moved(as_json: bool) -> None:
    """Let events, feed and webhooks go on after the server's disk was set back, as from a snapshot.

    A restored dump, a restore to a point in time and a failover are noticed without this.

    \b
    Example:
      messor db moved
    """
    run(_moved())
    if as_json:
        print_json({"moved": True})
    say("Positions go on beyond all that were given out before. Run: messor search-index rebuild")


async def _moved() -> None:
    async with server_dsn(Settings()) as dsn, Database(dsn, pool_size=1) as database:
        await database.require_schema()
        await database.fetch(FOLLOW_ANYHOW)


db.add_command(downgrade)
db.add_command(dump)
db.add_command(rotate_key)
db.add_command(rotate_password)
db.add_command(shell)
db.add_command(slow)
db.add_command(url)


async def _upgrade(revision: str) -> None:
    async with server_dsn(Settings()) as dsn:
        from messor.store import migrate  # noqa: PLC0415 - slow to load

        await asyncio.to_thread(migrate.upgrade, dsn, revision)
        async with Database(dsn, pool_size=1) as database:
            say(f"The database is at revision {await database.revision() or 'none'}.")


@db.command()
@json_option
def status(as_json: bool) -> None:
    """Show the database's version, revision and size.

    \b
    Example:
      messor db status --json
    """
    facts = run(_status())
    if as_json:
        print_json(facts)
    else:
        for name, value in facts.items():
            click.echo(f"{name:10} {value}")


def _endpoint(settings: Settings) -> dict[str, object]:
    """Return socket and port of the embedded server."""
    if settings.database_url:
        return {}
    found = embedded_server(settings).status()
    return {"socket": found.socket, "port": found.port}


async def _status() -> dict[str, object]:
    settings = Settings()
    async with server_dsn(settings) as dsn, Database(dsn, pool_size=1) as database:
        return {
            "server": "given" if settings.database_url else "embedded",
            **_endpoint(settings),
            "postgres": await database.fetchval("SHOW server_version"),
            "revision": await database.revision(),
            "newest": revisions.newest(),
            "size": await database.fetchval(
                "SELECT pg_size_pretty(pg_database_size(current_database()))"
            ),
        }
