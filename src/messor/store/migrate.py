"""Migrations as functions: upgrade, downgrade, and where the database stands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncpg
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy.exc import DBAPIError

from messor.errors import UnavailableError, UsageError

MIGRATIONS = Path(__file__).parent / "migrations"


def _config(dsn: str) -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("sqlalchemy.url", dsn.replace("%", "%%"))
    return config


def upgrade(dsn: str, revision: str = "head") -> None:
    with _plain_errors():
        command.upgrade(_config(dsn), revision)


def downgrade(dsn: str, revision: str = "-1") -> None:
    with _plain_errors():
        command.downgrade(_config(dsn), revision)


@contextmanager
def _plain_errors() -> Iterator[None]:
    try:
        yield
    except CommandError as error:
        raise UsageError(f"The database was not changed: {error}") from error
    except DBAPIError as error:
        raise UnavailableError(f"The database was not changed: {error.orig}") from error
    except OSError as error:
        raise UnavailableError(f"PostgreSQL does not answer: {error}") from error


def newest() -> str:
    """The revision this release of Messor expects."""
    head = ScriptDirectory.from_config(_config("postgresql://")).get_current_head()
    assert head is not None
    return head


async def current(connection: asyncpg.Connection) -> str | None:
    """The revision the database is at; None before the first migration."""
    if await connection.fetchval("SELECT to_regclass('messor.alembic_version')") is None:
        return None
    revision: str | None = await connection.fetchval(
        "SELECT version_num FROM messor.alembic_version"
    )
    return revision
