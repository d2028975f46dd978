"""Fixtures every suite shares: one embedded PostgreSQL per worker, one clean database per test."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import hypothesis
import pytest

from messor.settings import Settings
from messor.store.database import Database
from simweb import WorldProcess
from tests.lent_databases import LentDatabases
from tests.template_server import template_server, with_database

CORPORA = Path(__file__).parent.parent.parent / "shared" / "corpora"
IN_MEMORY = Path("/dev/shm")
ROOM_FOR_A_SERVER = 2 << 30

# Whatever the shell says: without bytecode each process a test starts compiles the program anew.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# How long an example takes is the machine's affair; and every run tries the same ones: what only
# chance finds is looked for by `make fuzz`.
hypothesis.settings.register_profile(
    "messor",
    deadline=None,
    derandomize=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("messor")

# Thousands of modules and tests are loaded to stay: searching them for garbage while they are is
# half of what collecting them costs, in every worker.
gc.disable()


def pytest_collection_finish() -> None:
    gc.enable()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that share what is made once for their module run in one process, else each makes it."""
    for item in items:
        if isinstance(item, pytest.Function) and item.get_closest_marker("xdist_group") is None:
            known = item._fixtureinfo.name2fixturedefs.values()
            if any(found[-1].scope == "module" for found in known):
                item.add_marker(pytest.mark.xdist_group(item.location[0]))


def pytest_make_parametrize_id(val: object) -> str | None:
    """Long bytes by their length: gzip writes the time into its own, and workers must agree on ids."""
    return f"{len(val)}-bytes" if isinstance(val, bytes) and len(val) > 16 else None


@pytest.fixture(scope="session", autouse=True)
def clean_environment() -> None:
    """Tests see defaults, whatever the shell they run in has set."""
    for name in list(os.environ):
        if name.startswith("MESSOR_") and name != "MESSOR_TEST_DATABASE_URL":
            del os.environ[name]


@pytest.fixture(scope="session")
def server_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """In memory where that has room: a database is cloned there ten times as fast as on a disk."""
    usable = IN_MEMORY.is_dir() and os.access(IN_MEMORY, os.W_OK)
    if not usable or shutil.disk_usage(IN_MEMORY).free < ROOM_FOR_A_SERVER:
        yield tmp_path_factory.mktemp("server")
        return
    with tempfile.TemporaryDirectory(dir=IN_MEMORY, prefix="messor-test-") as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def server_dsn(request: pytest.FixtureRequest) -> Iterator[str]:
    """A server with a migrated template: the one that the environment names, or one of this run."""
    given = os.environ.get("MESSOR_TEST_DATABASE_URL")
    if given:
        yield given
        return
    with template_server(request.getfixturevalue("server_folder")) as dsn:
        yield dsn


@pytest.fixture(scope="session")
def lent_databases(server_dsn: str) -> LentDatabases:
    return LentDatabases(server_dsn)


@pytest.fixture
async def dsn(server_dsn: str, lent_databases: LentDatabases) -> AsyncIterator[str]:
    """The DSN of a database of this test's own, as migrations leave it."""
    name = await lent_databases.lend()
    yield with_database(server_dsn, name)
    await lent_databases.take_back(name)


@pytest.fixture
async def database(dsn: str) -> AsyncIterator[Database]:
    """An open database of this test's own."""
    async with Database(dsn) as opened:
        yield opened


@pytest.fixture(scope="session")
def demo_world() -> Iterator[WorldProcess]:
    with WorldProcess("demo") as world:
        yield world


def settings_for(world: WorldProcess, folder: Path, **values: object) -> Settings:
    """Settings that let a worker into a simulated web, and nowhere else."""
    given: dict[str, object] = {
        "data_dir": folder,
        "contact": "https://example.invalid/tests",
        "allowed_networks": {
            "addresses": ["127.0.0.0/8"],
            "ports": world.ports,
            "names": world.names,
        },
        "ca_file": world.ca_file,
        "worker_lease": 30.0,
        **values,
    }
    return Settings.model_validate(given)
