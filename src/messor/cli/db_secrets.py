"""`messor db rotate-password`: another password for the embedded database."""

from __future__ import annotations

import asyncio

import click

from messor.cli.output import json_option, print_json, run, say
from messor.errors import ConflictError
from messor.settings import Settings
from messor.store.session import embedded_server


@click.command("rotate-password")
@json_option
def rotate_password(as_json: bool) -> None:
    """Give the embedded database another password.

    Running workers go on: open connections stay open, and new ones read the new password. If the
    command is killed half-way, either password lets Messor in, and the next start tidies up.

    \b
    Example:
      messor db rotate-password
    """
    run(_rotate(Settings()))
    say("The embedded database has a new password. Running workers go on with it.")
    if as_json:
        print_json({"rotated": True})


async def _rotate(settings: Settings) -> None:
    if settings.database_url:
        raise ConflictError(
            "The password of a given server is changed there (ALTER ROLE … PASSWORD), and then in "
            "MESSOR_DATABASE_URL."
        )
    server = embedded_server(settings)
    await asyncio.to_thread(server.acquire)
    try:
        await asyncio.to_thread(server.rotate_password)
    finally:
        await asyncio.to_thread(server.release)
