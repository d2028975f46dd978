"""Migrations as functions: upgrade and downgrade.

A database's current revision is read by `revisions`, without Alembic: importing that takes a third
of a second, which opening a database should not cost.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy.exc import DBAPIError

from messor.errors import UnavailableError, UsageError
from messor.store.database import unanswered
from messor.store.revisions import MIGRATIONS


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
        raise unanswered(error) from error
