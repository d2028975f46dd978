"""`messor db`: migrations, and a shell on the database."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import click

from messor.cli.output import json_option, print_json, run, say
from messor.errors import UnavailableError
from messor.settings import Settings
from messor.store import migrate, revisions
from messor.store.database import Database
from messor.store.session import embedded_server


@asynccontextmanager
async def server_dsn(settings: Settings) -> AsyncIterator[str]:
    """The database's DSN, with the embedded server running while it is used."""
    if settings.database_url:
        yield settings.database_url
        return
    server = embedded_server(settings)
    dsn = await asyncio.to_thread(server.acquire)
    try:
        yield dsn
    finally:
        await asyncio.to_thread(server.release)


@click.group()
def db() -> None:
    """Upgrade, downgrade or look into the database.

    \b
    Example:
      messor db upgrade
    """


@db.command()
@click.argument("revision", default="head")
def upgrade(revision: str) -> None:
    """Bring the database to a revision (the newest by default).

    \b
    Example:
      messor db upgrade
    """
    run(_migrate(revision, up=True))


@db.command()
@click.argument("revision", default="-1")
def downgrade(revision: str) -> None:
    """Take the database back (one revision by default). Data of the dropped tables is lost.

    \b
    Example:
      messor db downgrade base
    """
    run(_migrate(revision, up=False))


async def _migrate(revision: str, *, up: bool) -> None:
    async with server_dsn(Settings()) as dsn:
        await asyncio.to_thread(migrate.upgrade if up else migrate.downgrade, dsn, revision)
        async with Database(dsn, pool_size=1) as database:
            say(f"The database is at revision {await database.revision() or 'none'}.")


@db.command()
@json_option
def status(as_json: bool) -> None:
    """Tell the database's version, revision and size.

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


async def _status() -> dict[str, object]:
    settings = Settings()
    async with server_dsn(settings) as dsn, Database(dsn, pool_size=1) as database:
        return {
            "server": "given" if settings.database_url else "embedded",
            "postgres": await database.fetchval("SHOW server_version"),
            "revision": await database.revision(),
            "newest": revisions.newest(),
            "size": await database.fetchval(
                "SELECT pg_size_pretty(pg_database_size(current_database()))"
            ),
        }


@db.command()
def shell() -> None:
    """Open psql on the database.

    \b
    Example:
      messor db shell
    """
    run(_shell())


async def _shell() -> None:
    program = shutil.which("psql")
    async with server_dsn(Settings()) as dsn:
        if program is None:
            raise UnavailableError(
                "psql is not installed. Get it with: apt-get install postgresql-client"
            )
        environment = {**os.environ, "PGOPTIONS": "-c search_path=messor"}
        process = await asyncio.create_subprocess_exec(program, dsn, env=environment)
        await process.wait()
