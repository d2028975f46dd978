"""The files for deploying: valid, true to the program, and their commands run with their environment."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from messor.cli.main import cli
from messor.settings import Settings
from messor.store import migrate, revisions
from messor.store.database import Database
from tests.crawling import eventually
from tests.ops.prometheus_server import free_port
from tests.template_server import run_sql, with_database

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = ("messor", "upgrade", "worker")
ENV = (ROOT / ".env.example").read_text("utf-8")
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
UNITS = sorted((ROOT / "deploy" / "systemd").glob("*.service"))


def substituted(word: str) -> str:
    """A word of the file as compose reads it, without any variable set."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", word)


def parsed(words: list[str]) -> str:
    """The path of the command that the words name; raises if an option is unknown."""
    with cli.make_context("messor", list(words)) as context:
        command: click.Command | None = cli
        rest = words
        while isinstance(command, click.Group):
            _, command, rest = command.resolve_command(context, rest)
        assert command is not None
        command.make_context(command.name, rest, parent=context)
        return str(command.name)


@pytest.mark.parametrize("name", OURS)
def test_a_service_runs_a_command_that_exists(name: str) -> None:
    words = [substituted(word) for word in SERVICES[name]["command"]]
    assert parsed(words) == {"messor": "up"}.get(name, name)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_a_unit_runs_a_command_that_exists(unit: Path) -> None:
    start = re.search(
        r"^ExecStart=/opt/messor/bin/messor (.+)$", unit.read_text("utf-8"), re.MULTILINE
    )
    assert start is not None
    assert parsed(shlex.split(start[1])) in ("up", "worker")


def test_settings_that_the_files_name_exist() -> None:
    text = ENV + DOCKERFILE + (ROOT / "compose.yaml").read_text("utf-8")
    text += "".join(unit.read_text("utf-8") for unit in UNITS)
    named = set(re.findall(r"\bMESSOR_[A-Z_]+", text)) - {"MESSOR_LOCAL_WORKERS"}
    assert named
    assert named <= {f"MESSOR_{name.upper()}" for name in Settings.model_fields}


def test_a_password_that_compose_uses_is_in_the_example() -> None:
    used = set(re.findall(r"\$\{(\w+):-", (ROOT / "compose.yaml").read_text("utf-8")))
    assert used <= set(re.findall(r"^#?(\w+)=", ENV, re.MULTILINE))


def test_the_image_copies_files_that_exist_and_drops_root() -> None:
    for line in re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE):
        for name in line.split():
            assert (ROOT / name).exists(), name
            assert f"!{name}" in (ROOT / ".dockerignore").read_text("utf-8")
    assert re.findall(r"^USER (.+)$", DOCKERFILE, re.MULTILINE) == ["messor"]
    for name in OURS:
        assert SERVICES[name]["read_only"] is True
        assert SERVICES[name]["cap_drop"] == ["ALL"]


def test_the_locked_packages_of_the_image_are_those_that_are_tested() -> None:
    pin = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==(\S+)", re.MULTILINE)
    image = dict(pin.findall((ROOT / "requirements-image.txt").read_text("utf-8")))
    tested = dict(pin.findall((ROOT / "requirements-dev.txt").read_text("utf-8")))
    assert {name: tested.get(name) for name in image} == image
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert {"obstore", "celery"} <= image.keys(), extras["optional-dependencies"]


@pytest.mark.skipif(
    shutil.which("docker-compose") is None, reason="docker-compose is not installed"
)
@pytest.mark.parametrize("profile", [(), ("--profile", "scaled")])
def test_compose_accepts_the_file(tmp_path: Path, profile: tuple[str, ...]) -> None:
    for name in ("compose.yaml", ".env.example"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / ".env.example", tmp_path / ".env")
    command = ["docker-compose", *profile, "config", "--services"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) >= {"messor", "worker", "postgres"}


def test_without_a_profile_one_container_runs() -> None:
    assert [name for name, given in SERVICES.items() if "profiles" not in given] == ["messor"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_systemd_accepts_the_unit(tmp_path: Path, unit: Path) -> None:
    text = unit.read_text("utf-8").replace("/opt/messor/bin/messor", "/bin/true")
    (tmp_path / unit.name).write_text(text)
    command = ["systemd-analyze", "verify", str(tmp_path / unit.name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (0, "")


@pytest.fixture
async def empty_database(server_dsn: str, dsn: str) -> AsyncIterator[str]:
    """The database that `POSTGRES_DB` made: empty."""
    name = f"{dsn.rpartition('/')[2]}_compose"
    await run_sql(server_dsn, f"CREATE DATABASE {name}")
    yield with_database(server_dsn, name)
    await run_sql(server_dsn, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def environment(empty_database: str, tmp_path: Path) -> dict[str, str]:
    """What the image and compose set, with addresses of this machine."""
    image = dict(re.findall(r"(MESSOR_\w+)=(\S+)", DOCKERFILE))
    compose = dict(SERVICES["messor"]["environment"])
    return {
        **os.environ,
        **image,
        **compose,
        "MESSOR_DATA_DIR": str(tmp_path / "data"),
        "MESSOR_DATABASE_URL": empty_database,
        "MESSOR_METRICS_LISTEN": f"127.0.0.1:{free_port()}",
        "MESSOR_LISTEN_PORT": str(free_port()),
        "MESSOR_CONTACT": "https://example.invalid/tests",
    }


@asynccontextmanager
async def service(
    name: str, environment: dict[str, str]
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A service's command as a process, ended by SIGTERM as a container is."""
    words = [substituted(word) for word in SERVICES[name]["command"]]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "messor", *words, env=environment
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 60) == 0


async def is_healthy(check: list[str], environment: dict[str, str]) -> bool:
    """Whether the health check of the file passes, with the ports of this test."""
    ports = {
        "8321": environment["MESSOR_LISTEN_PORT"],
        "9464": environment["MESSOR_METRICS_LISTEN"].rpartition(":")[2],
    }
    code = re.sub(r"\b(8321|9464)\b", lambda found: ports[found[1]], check[-1])
    quiet = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stderr=quiet)
    return await process.wait() == 0


@pytest.mark.wide
async def test_the_services_run_natively_in_their_order(
    environment: dict[str, str], empty_database: str
) -> None:
    async with service("upgrade", environment) as process:
        await process.wait()
    async with Database(empty_database) as database:
        assert await database.revision() == revisions.newest()
    health = re.search(r"HEALTHCHECK.*?CMD (\[.+?\])$", DOCKERFILE, re.DOTALL | re.MULTILINE)
    assert health is not None
    for name, check in (
        ("messor", yaml.safe_load(health[1])),
        ("worker", SERVICES["worker"]["healthcheck"]["test"][1:]),
    ):
        async with service(name, environment):
            await eventually(lambda check=check: is_healthy(check, environment))  # type: ignore[misc]
        assert not await is_healthy(check, environment), "the check must notice that it is gone"


def test_a_release_that_is_older_than_the_database_does_not_start(empty_database: str) -> None:
    """What a downgraded image would meet."""
    migrate.upgrade(empty_database)

    async def renumber() -> None:
        await run_sql(empty_database, "UPDATE messor.alembic_version SET version_num = '999_newer'")

    asyncio.run(renumber())
    settings = {**os.environ, "MESSOR_DATABASE_URL": empty_database}
    for words in (("db", "upgrade"), ("up", "--workers", "0", "--no-console")):
        done = subprocess.run(
            [sys.executable, "-m", "messor", *words],
            env=settings, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode != 0, words
        assert "999_newer" in done.stderr
