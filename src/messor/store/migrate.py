"""Migrations as functions: upgrade, downgrade, and a downgrade as SQL.

A database's current revision is read by `revisions`, without Alembic: importing that takes a third
of a second, which opening a database should not cost.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager

from alembic import command
from alembic.config import Config
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy.exc import DBAPIError

from messor.errors import UnavailableError, UsageError
from messor.store import revisions
from messor.store.database import unanswered


def _config(dsn: str) -> Config:
    config = Config()
    config.set_main_option("script_location", str(revisions.MIGRATIONS))
    config.set_main_option("sqlalchemy.url", dsn.replace("%", "%%"))
    return config


def upgrade(dsn: str, revision: str = "head") -> None:
    with _plain_errors():
        command.upgrade(_config(dsn), revision)


def downgrade(dsn: str, revision: str = "-1") -> None:
    with _plain_errors():
        command.downgrade(_config(dsn), revision)


def downgrade_script(revision: str) -> str:
    """The SQL that undoes one revision; no database is needed."""
    output = io.StringIO()
    context = MigrationContext.configure(
        dialect_name="postgresql", opts={"as_sql": True, "output_buffer": output}
    )
    script = ScriptDirectory(str(revisions.MIGRATIONS)).get_revision(revision)
    with Operations.context(context):
        script.module.downgrade()
    return output.getvalue()


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
