"""`messor db shell`, `dump` and `url`: PostgreSQL's own programs on the database.

Command lines can be read by everybody on the machine, so passwords go by the environment.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import sys
from pathlib import Path

import click

from messor.cli.db_server import server_dsn
from messor.cli.output import json_option, print_json, run
from messor.core.terminal import say
from messor.errors import UnavailableError, UsageError
from messor.settings import Settings
from messor.store.database import Database
from messor.store.dsn import for_child
from messor.store.embedded.programs import client_program


@click.command()
def shell() -> None:
    """Open psql on the database.

    \b
    Example:
      messor db shell
    """
    sys.exit(run(_shell()))


async def _shell() -> int:
    async with server_dsn(Settings()) as dsn:
        program = await _program("psql", dsn)
        bare, hidden = for_child(dsn)
        environment = {**os.environ, **hidden, "PGOPTIONS": "-c search_path=messor"}
        process = await asyncio.create_subprocess_exec(program, bare, env=environment)
        return await process.wait()


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@json_option
def dump(file: Path, as_json: bool) -> None:
    """Write the whole database to a file of SQL, readable by its owner alone.

    The archive folder and `secret.key` are not part of it: copy them as well.

    \b
    Example:
      messor db dump messor.sql
      MESSOR_DATA_DIR=new messor db shell < messor.sql
    """
    size = run(_dump(file))
    say(f"{file} holds the database ({size / 1e6:,.1f} MB). Copy the archive and secret.key, too.")
    if as_json:
        print_json({"file": str(file), "bytes": size})


async def _dump(file: Path) -> int:
    """Whole or not at all: a dump that was cut off must not look like one.

    Its draft is a new file, whose name nobody knew: in a folder such as /tmp another user may have
    made one that they keep open.
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
    async with server_dsn(Settings()) as dsn:
        program = await _program("pg_dump", dsn)
        bare, hidden = for_child(dsn)
        command = (program, "--format=plain", "--no-owner", f"--dbname={bare}")
        process = await asyncio.create_subprocess_exec(
            *command, stdout=fd, stderr=asyncio.subprocess.PIPE, env={**os.environ, **hidden}
        )
        _, said = await process.communicate()
    if process.returncode != 0:
        complaint = said.decode("utf-8", "replace").strip()
        raise UnavailableError(f"The database could not be dumped: {complaint}")


@click.command()
@json_option
def url(as_json: bool) -> None:
    """Print the database's URL for other programs, without a password.

    The embedded server's names a password file instead, which psql and most drivers read. It can
    be reached while some Messor process runs.

    \b
    Example:
      psql "$(messor db url)"
    """
    shown, _ = run(_url())
    if as_json:
        print_json({"url": shown})
    else:
        click.echo(shown)


async def _url() -> tuple[str, dict[str, str]]:
    async with server_dsn(Settings()) as dsn:
        return for_child(dsn)


async def _program(name: str, dsn: str) -> str:
    """One that knows the server's version; an older pg_dump refuses it."""
    async with Database(dsn, pool_size=1) as database:
        version = int(await database.fetchval("SHOW server_version_num"))
    fitting = client_program(name, Settings().postgres_bin, version // 10_000)
    found = fitting or shutil.which(name)
    if found is None:
        raise UnavailableError(
            f"{name} is not installed. Get it with: apt-get install postgresql-client"
        )
    return found
