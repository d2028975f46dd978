"""The rooms' models and the migrations declare the same tables: neither can change alone."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import main
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, MetaData, pool, text
from sqlalchemy.ext.asyncio import create_async_engine

from messor.store import autogenerate, revisions
from messor.store.connection import connect
from tests.store.catalogue import DECLARED, catalogue

ROOT = Path(__file__).parents[2]
Alembic = Callable[..., Coroutine[Any, Any, None]]
UNCHECKED = "SET check_function_bodies = off;"


async def on(dsn: str, act: Callable[[Connection], Any]) -> Any:
    """What SQLAlchemy does on a connection to this database."""
    engine = create_async_engine(
        "postgresql+asyncpg://", poolclass=pool.NullPool, async_creator=lambda: connect(dsn)
    )
    async with engine.begin() as connection:
        answer = await connection.run_sync(act)
    await engine.dispose()
    return answer


async def create(dsn: str, models: MetaData) -> set[str]:
    """The catalogue of an empty database after the models' tables were created in it."""
    raw = await asyncpg.connect(dsn, ssl=False)
    functions = sorted(revisions.MIGRATIONS.glob("functions/*.sql"))
    scripts = [path.read_text(encoding="utf-8") for path in functions]
    await raw.execute("\n".join(["CREATE SCHEMA messor;", UNCHECKED, *scripts]))
    await raw.close()
    await on(dsn, models.create_all)
    return await catalogue(dsn, DECLARED)


def differences(connection: Connection) -> list[Any]:
    options = autogenerate.options(connection)
    context = MigrationContext.configure(
        connection, opts={"version_table_schema": "messor", **options}
    )
    found: list[Any] = compare_metadata(context, options["target_metadata"])
    return found


async def test_autogenerate_finds_nothing_to_do(dsn: str) -> None:
    assert await on(dsn, differences) == []


async def test_the_models_create_what_the_migrations_create(dsn: str, blank_dsn: str) -> None:
    assert await create(blank_dsn, autogenerate.metadata()) == await catalogue(dsn, DECLARED)


async def test_a_changed_model_is_noticed(
    dsn: str, blank_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = autogenerate.metadata()
    monkeypatch.setattr(models.tables["messor.pages"].c.category, "nullable", False)
    indexes = models.tables["messor.crawl_tasks"].indexes
    due = next(one for one in indexes if one.name == "crawl_tasks_due")
    monkeypatch.setitem(due.dialect_options["postgresql"], "where", None)
    (check,) = models.tables["messor.segments"].c.state.constraints
    monkeypatch.setattr(check, "sqltext", text("state IN ('open', 'sealed', 'lost')"))
    found = await create(blank_dsn, models) - await catalogue(dsn, DECLARED)
    assert {" ".join(fact.split()[:4]) for fact in found} == {
        "column pages.category is 9",
        "index CREATE INDEX crawl_tasks_due",
        "constraint segments_state_check of segments",
    }


def test_no_process_of_messor_loads_the_models(dsn: str) -> None:
    script = (
        "import sys, messor.cli.main, messor.runtime.worker_process;"
        "from messor.store import migrate; migrate.upgrade(sys.argv[1]);"
        "sys.exit('messor.store.base' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script, dsn], check=False)
    assert done.returncode == 0


@pytest.fixture
def alembic(monkeypatch: pytest.MonkeyPatch) -> Alembic:
    """Runs `alembic` in the root of the project, as a developer does."""
    monkeypatch.chdir(ROOT)

    async def run(dsn: str, *words: str, ini: str = "alembic.ini") -> None:
        monkeypatch.setenv("MESSOR_DATABASE_URL", dsn)
        await asyncio.to_thread(main, ["--config", ini, *words])

    return run


async def test_alembic_works_in_the_root_of_the_project(
    alembic: Alembic, blank_dsn: str, dsn: str
) -> None:
    await alembic(blank_dsn, "upgrade", "head")
    assert await catalogue(blank_dsn) == await catalogue(dsn)
    await alembic(blank_dsn, "check")
    await alembic(blank_dsn, "downgrade", "base")
    assert await catalogue(blank_dsn) == set()


async def test_what_a_model_has_more_becomes_a_migration(
    alembic: Alembic, dsn: str, tmp_path: Path
) -> None:
    migrations = shutil.copytree(revisions.MIGRATIONS, tmp_path / "migrations")
    usual = (ROOT / "alembic.ini").read_text()
    (tmp_path / "alembic.ini").write_text(usual.replace("src/messor/store", str(tmp_path)))
    ini = str(tmp_path / "alembic.ini")
    declared = await catalogue(dsn, DECLARED)
    raw = await asyncpg.connect(dsn, ssl=False)
    await raw.execute(
        """DROP TABLE messor.alarms; ALTER TABLE messor.blanks DROP blanked_at;
           DROP INDEX messor.crawl_tasks_due"""
    )
    await raw.close()
    less = await catalogue(dsn, DECLARED)
    await alembic(dsn, "revision", "--autogenerate", "-m", "Alarms are back!", ini=ini)
    assert list((migrations / "versions").glob("[0-9][0-9][0-9]_alarms_are_back.py"))
    await alembic(dsn, "upgrade", "head", ini=ini)
    assert await catalogue(dsn, DECLARED) == declared
    await alembic(dsn, "downgrade", "-1", ini=ini)
    assert await catalogue(dsn, DECLARED) == less
