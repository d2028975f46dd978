"""The schema revision of a database, and the one this release expects."""

from __future__ import annotations

from pathlib import Path

import asyncpg

MIGRATIONS = Path(__file__).parent / "migrations"


def history() -> list[str]:
    """All revisions, oldest first: a revision is the name of its file, which begins with a number."""
    return sorted(path.stem for path in MIGRATIONS.glob("versions/*_*.py"))


def newest() -> str:
    """The revision this release expects."""
    return history()[-1]


async def current(connection: asyncpg.Connection) -> str | None:
    """The current revision of the database; None before the first migration."""
    if await connection.fetchval("SELECT to_regclass('messor.alembic_version')") is None:
        return None
    revision: str | None = await connection.fetchval(
        "SELECT version_num FROM messor.alembic_version"
    )
    return revision
