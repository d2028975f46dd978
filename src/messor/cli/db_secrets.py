"""`messor db rotate-password` and `rotate-key`: another password, another key for what is sealed."""

from __future__ import annotations

import asyncio

import click

from messor.access.principal import LOCAL_ADMIN
from messor.cli.output import json_option, print_json, run
from messor.core.terminal import say
from messor.errors import ConflictError
from messor.fetch.proxies.seal import KEY_FILE, seal_for
from messor.ops import key_rotation
from messor.ops.key_rotation import Rotation
from messor.settings import Settings
from messor.store.session import embedded_server, open_session


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


@click.command("rotate-key")
@json_option
def rotate_key(as_json: bool) -> None:
    """Seal the passwords of proxies, secrets of webhooks and second factors under a new key.

    Without MESSOR_SECRET_KEY the new key replaces the one in secret.key; running workers notice.
    With it: set MESSOR_SECRET_KEY to the new key and MESSOR_SECRET_KEY_PREVIOUS to the old one
    wherever Messor runs, restart, and then run this. It may be killed and run again at any time.

    \b
    Example:
      messor db rotate-key
    """
    settings = Settings()
    done = run(_rotate_key(settings))
    say(f"{done.resealed} secrets are sealed under the new key.")
    for lost in done.unreadable:
        say(f"No key opens the secret of {lost}: remove it and add it again.")
    say(_afterwards(settings, done))
    if as_json:
        print_json(done)


async def _rotate_key(settings: Settings) -> Rotation:
    async with open_session(settings, pool_size=1) as session:
        return await key_rotation.rotate_key(
            session.database, seal_for(settings), actor=LOCAL_ADMIN.actor
        )


def _afterwards(settings: Settings, done: Rotation) -> str:
    file = settings.data_dir / KEY_FILE
    if settings.secret_key is None:
        return f"The old key is gone. Copy the new {file} to wherever you keep a copy of it."
    if settings.secret_key_previous is not None or file.exists():
        left = f" and remove {file}" if file.exists() else ""
        return f"Now unset MESSOR_SECRET_KEY_PREVIOUS wherever Messor runs{left}."
    if done.resealed == 0:
        return (
            "All was sealed under MESSOR_SECRET_KEY before. To change it: set it to the new key and "
            "MESSOR_SECRET_KEY_PREVIOUS to the old one wherever Messor runs, and run this again."
        )
    return "Everything is sealed under MESSOR_SECRET_KEY."
