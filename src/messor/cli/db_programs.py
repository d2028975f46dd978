"""`messor db shell`, `dump` and `url`: run PostgreSQL's own programs on the database.

Every user of the machine can read command lines, so passwords are passed in the environment.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
from pathlib import Path

import click

from messor.cli.output import json_option, print_json, run
from messor.core.terminal import say
from messor.errors import UnavailableError, UsageError
from messor.settings import Settings
from messor.store.client_programs import program_for
from messor.store.dsn import for_child
from messor.store.session import server_dsn


@click.command()
def shell() -> None:
    """Open psql on the database.

    \b
    Example:
      messor db shell
    """
    sys.exit(run(_shell()))


async def _shell() -> int:
    settings = Settings()
    async with server_dsn(settings) as dsn:
        program = await program_for("psql", dsn, settings.postgres_bin)
        bare, hidden = for_child(dsn)
        environment = {**os.environ, **hidden, "PGOPTIONS": "-c search_path=messor"}
        process = await asyncio.create_subprocess_exec(program, bare, env=environment)
        return await process.wait()


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@json_option
def dump(file: Path, as_json: bool) -> None:
    """Dump the whole database to an SQL file that only its owner can read.

    The dump does not include the archive folder and `secret.key`: back them up as well.

    \b
    Example:
      messor db dump messor.sql
      MESSOR_DATA_DIR=new messor db shell < messor.sql
    """
    size = run(_dump(file))
    say(
        f"The database was dumped to {file} ({size / 1e6:,.1f} MB). "
        "Back up the archive and secret.key as well."
    )
    if as_json:
        print_json({"file": str(file), "bytes": size})


async def _dump(file: Path) -> int:
    """Write to a temporary file first, so that a partial dump never looks complete.

    Its name is random: in a folder such as /tmp another user could have made the file and kept it
    open.
    """
    part = file.with_name(f"{file.name}.{secrets.token_hex(8)}.part")
    try:
        fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.fchmod(fd, 0o600)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error
    try:
        await _pg_dump(fd)
        os.fsync(fd)
        part.replace(file)
        return os.fstat(fd).st_size
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    finally:
        os.close(fd)


async def _pg_dump(fd: int) -> None:
    settings = Settings()
    async with server_dsn(settings) as dsn:
        program = await program_for("pg_dump", dsn, settings.postgres_bin)
        bare, hidden = for_child(dsn)
        command = (program, "--format=plain", "--no-owner", f"--dbname={bare}")
        process = await asyncio.create_subprocess_exec(
            *command, stdout=fd, stderr=asyncio.subprocess.PIPE, env={**os.environ, **hidden}
        )
        _, stderr = await process.communicate()
    if process.returncode != 0:
        message = stderr.decode("utf-8", "replace").strip()
        raise UnavailableError(f"The database could not be dumped: {message}")


@click.command()
@json_option
def url(as_json: bool) -> None:
    """Print the database URL for other programs, without the password.

    The URL of the embedded server names a password file, which psql and most drivers read. The
    embedded server runs only while a Messor process uses it.

    \b
    Example:
      psql "$(messor db url)"
    """
    database_url, _ = run(_url())
    if as_json:
        print_json({"url": database_url})
    else:
        click.echo(database_url)


async def _url() -> tuple[str, dict[str, str]]:
    async with server_dsn(Settings()) as dsn:
        return for_child(dsn)
