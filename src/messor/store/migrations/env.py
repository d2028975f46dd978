"""Alembic's environment: async, in schema messor, with lock and statement time-outs."""

import asyncio

from alembic import context
from sqlalchemy import Connection, pool, text
from sqlalchemy.ext.asyncio import create_async_engine

from messor.settings import Settings

# A migration that cannot get its lock gives up rather than queue every reader behind it.
TIMEOUTS = "SET lock_timeout = '5s'; SET statement_timeout = '30min'"


def run(connection: Connection) -> None:
    for statement in TIMEOUTS.split(";"):
        connection.execute(text(statement))
    connection.execute(text("CREATE SCHEMA IF NOT EXISTS messor"))
    connection.commit()
    context.configure(connection=connection, version_table_schema="messor")
    with context.begin_transaction():
        context.run_migrations()


async def connect_and_run() -> None:
    url = context.config.get_main_option("sqlalchemy.url") or Settings().database_url
    if not url:
        msg = "Set MESSOR_DATABASE_URL, or use `messor db upgrade` for the embedded server."
        raise SystemExit(msg)
    url = url.replace("postgresql://", "postgresql+asyncpg://", 1)
    engine = create_async_engine(url, poolclass=pool.NullPool)
    async with engine.connect() as connection:
        await connection.run_sync(run)
    await engine.dispose()


asyncio.run(connect_and_run())
