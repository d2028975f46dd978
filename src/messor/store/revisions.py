"""Which revision of the schema a database is at, and which one this release expects."""

from __future__ import annotations

from pathlib import Path

import asyncpg

MIGRATIONS = Path(__file__).parent / "migrations"


def numbers() -> list[str]:
    """All revisions, the oldest first: they are numbered, and each file begins with its own."""
    return sorted(path.name.partition("_")[0] for path in MIGRATIONS.glob("versions/*_*.py"))


def newest() -> str:
    """The revision this release expects."""
    return numbers()[-1]


async def current(connection: asyncpg.Connection) -> str | None:
    """The revision the database is at; None before the first migration."""
    if await connection.fetchval("SELECT to_regclass('messor.alembic_version')") is None:
        return None
    revision: str | None = await connection.fetchval(
        "SELECT version_num FROM messor.alembic_version"
    )
    return revision
