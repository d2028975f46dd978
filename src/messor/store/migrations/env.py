"""Alembic's environment: async, in schema messor, with lock and statement timeouts."""

import asyncio
from typing import Any

from alembic import context
from sqlalchemy import Connection, pool, text
from sqlalchemy.ext.asyncio import create_async_engine

from messor.settings import Settings
from messor.store.connection import connect
from messor.store.squashed import take_over

# A migration that cannot get its lock gives up rather than queue every reader behind it. Partitions
# begin at midnight UTC, regardless of the server's time zone.
TIMEOUTS = "SET lock_timeout = '5s'; SET statement_timeout = '30min'; SET timezone = 'UTC'"

# Another process's migration may take its time; this lock blocks no table.
TURN = (
    "SET LOCAL lock_timeout = '30min'",
    "SELECT pg_advisory_xact_lock(hashtextextended('messor.migrate', 0))",
    "SET LOCAL lock_timeout = '5s'",
)


def run(connection: Connection) -> None:
    for statement in TIMEOUTS.split(";"):
        connection.execute(text(statement))
    _wait_for_turn(connection)
    connection.execute(text("CREATE SCHEMA IF NOT EXISTS messor"))
    models = _models(connection)
    connection.commit()
    context.configure(connection=connection, version_table_schema="messor", **models)
    with context.begin_transaction():
        _wait_for_turn(connection)
        take_over(connection, {one.revision for one in context.script.walk_revisions()})
        context.run_migrations()


def _models(connection: Connection) -> dict[str, Any]:
    """The models, for `alembic` with its file; `messor db upgrade` has none, and no use for them."""
    if context.config.config_file_name is None:
        return {}
    from messor.store.autogenerate import options  # noqa: PLC0415 - it loads the ORM

    return options(connection)


def _wait_for_turn(connection: Connection) -> None:
    """Several processes may start at once; the first one migrates, the others find it done."""
    for statement in TURN:
        connection.execute(text(statement))


async def connect_and_run() -> None:
    url = context.config.get_main_option("sqlalchemy.url") or Settings().database_url
    if not url:
        msg = "Set MESSOR_DATABASE_URL, or use `messor db upgrade` for the embedded server."
        raise SystemExit(msg)
    engine = create_async_engine(
        "postgresql+asyncpg://", poolclass=pool.NullPool, async_creator=lambda: connect(url)
    )
    async with engine.connect() as connection:
        await connection.run_sync(run)
    await engine.dispose()


asyncio.run(connect_and_run())
