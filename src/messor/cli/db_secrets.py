"""`messor db rotate-password` and `rotate-key`: new database password, new encryption key."""

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
    """Change the password of the embedded database.

    Running workers are not interrupted: open connections stay open, and new ones use the new
    password. If the command is killed midway, Messor tries both passwords and the next start
    completes the change.

    \b
    Example:
      messor db rotate-password
    """
    run(_rotate(Settings()))
    say("The embedded database has a new password. Running workers are not affected.")
    if as_json:
        print_json({"rotated": True})


async def _rotate(settings: Settings) -> None:
    if settings.database_url:
        raise ConflictError(
            "Change the password of an external server there (ALTER ROLE … PASSWORD), then update "
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
    """Re-encrypt proxy passwords, webhook secrets and second factors with a new key.

    Without MESSOR_SECRET_KEY a new key replaces the one in secret.key; running workers pick it up.
    With it: set MESSOR_SECRET_KEY to the new key and MESSOR_SECRET_KEY_PREVIOUS to the old one
    wherever Messor runs, restart, then run this command. It can be interrupted and run again.

    \b
    Example:
      messor db rotate-key
    """
    settings = Settings()
    done = run(_rotate_key(settings))
    say(f"{done.resealed} secrets were encrypted with the new key.")
    for lost in done.unreadable:
        say(f"The secret of {lost} cannot be decrypted: remove it and add it again.")
    say(_next_step(settings, done))
    if as_json:
        print_json(done)


async def _rotate_key(settings: Settings) -> Rotation:
    async with open_session(settings, pool_size=1) as session:
        return await key_rotation.rotate_key(
            session.database, seal_for(settings), actor=LOCAL_ADMIN.actor
        )


def _next_step(settings: Settings, done: Rotation) -> str:
    file = settings.data_dir / KEY_FILE
    if settings.secret_key is None:
        return f"The old key was deleted. Back up the new {file}."
    if settings.secret_key_previous is not None or file.exists():
        left = f" and remove {file}" if file.exists() else ""
        return f"Now unset MESSOR_SECRET_KEY_PREVIOUS wherever Messor runs{left}."
    if done.resealed == 0:
        return (
            "All secrets were already encrypted with MESSOR_SECRET_KEY. To change the key, set "
            "MESSOR_SECRET_KEY to the new key and MESSOR_SECRET_KEY_PREVIOUS to the old one "
            "wherever Messor runs, and run this again."
        )
    return "All secrets are encrypted with MESSOR_SECRET_KEY."
