"""`messor db` as a person meets it: no secret where others see it, and nothing lost unasked."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from messor.store import revisions
from messor.store.embedded.programs import find_programs
from messor.store.server import EmbeddedServer
from tests.cli.conftest import Messor, run_process
from tests.later_migration import add_later_migration
from tests.template_server import with_password


def command_lines() -> str:
    """What everybody on the machine can read of all processes."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(path.read_bytes().decode("utf-8", "replace"))
        except OSError:
            continue
    return "\n".join(lines)


@pytest.fixture
def embedded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddedServer]:
    """The embedded server as `messor` finds it, running while the test does."""
    monkeypatch.delenv("MESSOR_DATABASE_URL", raising=False)
    monkeypatch.setenv("MESSOR_DATA_DIR", str(tmp_path / "data"))
    server = EmbeddedServer(tmp_path / "data")
    server.acquire()
    yield server
    server.release()


def password_of(dsn: str) -> str:
    return dsn.partition("://")[2].partition("@")[0].partition(":")[2]


def wait_for_psql(parent: int) -> None:
    deadline = time.monotonic() + 60
    while not [c for c in psutil.Process(parent).children() if c.name() == "psql"]:
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("form", ["{dsn}", "{bare}?password={password}"])
def test_a_shell_shows_the_password_to_nobody(dsn: str, tmp_path: Path, form: str) -> None:
    password = password_of(dsn)
    bare = dsn.replace(f":{password}@", "@")
    url = form.format(dsn=dsn, bare=bare, password=password)
    with subprocess.Popen(
        [sys.executable, "-m", "messor", "db", "shell"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path,
        env={**os.environ, "MESSOR_DATABASE_URL": url},
    ) as shell:  # fmt: skip
        assert shell.stdin is not None
        wait_for_psql(shell.pid)
        assert password not in command_lines()
        said, _ = shell.communicate("SELECT 'lanes: ' || count(*) FROM lanes;\n")
    assert "lanes: 0" in said


def test_the_embedded_password_is_rotated(messor: Messor, embedded: EmbeddedServer) -> None:
    before = password_of(with_password(embedded.ensure_running()))
    said = messor("db", "rotate-password", "--json")
    assert (said.code, said.json) == (0, {"rotated": True})
    after = password_of(with_password(embedded.ensure_running()))
    assert before != after
    assert after not in said.out + said.err
    assert messor("db", "status").code == 0
    url = messor("db", "url").out.strip()
    assert after not in url
    psql = find_programs(None, None).path("psql")
    assert subprocess.check_output([psql, url, "-Atc", "SELECT 7"], text=True) == "7\n"


def test_a_given_servers_password_is_its_owners_to_change(messor: Messor) -> None:
    said = messor("db", "rotate-password")
    assert said.code == 5
    assert "MESSOR_DATABASE_URL" in said.err


def test_the_url_of_a_given_server_is_shown_without_its_password(messor: Messor, dsn: str) -> None:
    said = messor("db", "url", "--json")
    assert password_of(dsn) not in said.out
    assert said.json["url"] == dsn.replace(f":{password_of(dsn)}@", "@")


def test_a_dump_can_be_read_by_its_owner_alone(messor: Messor, tmp_path: Path) -> None:
    said = messor("db", "dump", "all.sql", "--json")
    assert said.code == 0, said.err
    assert (tmp_path / "all.sql").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "all.sql").stat().st_size == said.json["bytes"] > 10_000


def test_a_dump_is_restored_into_a_new_folder(
    messor: Messor, embedded: EmbeddedServer, tmp_path: Path
) -> None:
    assert embedded.status().running
    messor("domains", "submit", "example.org")
    (tmp_path / "all.sql").touch(0o644)
    assert messor("db", "dump", "all.sql").code == 0
    assert (tmp_path / "all.sql").stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.glob("*.part")) == []
    env = {**os.environ, "MESSOR_DATA_DIR": str(tmp_path / "new")}
    with (tmp_path / "all.sql").open() as sql:
        shell = [sys.executable, "-m", "messor", "db", "shell"]
        subprocess.run(shell, stdin=sql, stdout=subprocess.DEVNULL, env=env, check=True)
    said = run_process("domains", "list", "--json", folder=tmp_path, **env)
    assert [row["domain"] for row in said.json] == ["example.org"]


def test_a_dump_is_not_written_into_a_draft_that_another_left(
    messor: Messor, tmp_path: Path
) -> None:
    with (tmp_path / "all.sql.part").open("w+b") as kept:
        assert messor("db", "dump", "all.sql").code == 0
        assert (tmp_path / "all.sql").stat().st_ino != os.fstat(kept.fileno()).st_ino
        assert kept.read() == b""


def test_a_dump_that_fails_leaves_nothing(messor: Messor, tmp_path: Path) -> None:
    said = messor("db", "dump", "nowhere/all.sql")
    assert said.code == 2
    assert "cannot be written" in said.err
    assert not list(tmp_path.glob("**/*.sql*"))


def test_a_downgrade_says_what_is_lost_and_asks(messor: Messor) -> None:
    messor("domains", "submit", "example.org")
    said = messor("db", "downgrade", "base")
    assert said.code == 2
    assert "table domain_submissions" in said.out
    assert "messor db dump" in said.err
    assert "--yes" in said.err
    assert messor("db", "status", "--json").json["revision"] == revisions.newest()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def later(messor: Messor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database is at a migration after the baseline."""
    add_later_migration(tmp_path, monkeypatch)
    assert messor("db", "upgrade").code == 0


@pytest.mark.usefixtures("later")
def test_at_a_terminal_a_downgrade_is_asked_for(
    messor: Messor, monkeypatch: pytest.MonkeyPatch
) -> None:
    *_, before, newest = revisions.history()
    for answer, code, revision in (("n\n", 5, newest), ("y\n", 0, before)):
        monkeypatch.setattr(sys, "stdin", Terminal(answer))
        said = messor("db", "downgrade")
        assert said.code == code
        assert f"Downgrade from {newest} to {before}?" in said.err
        assert messor("db", "status", "--json").json["revision"] == revision


@pytest.mark.usefixtures("later")
def test_a_downgrade_that_is_meant_is_done(messor: Messor) -> None:
    said = messor("db", "downgrade", "-1", "--dry-run", "--json")
    assert said.code == 0
    assert said.json["from"] == revisions.newest()
    assert messor("db", "status", "--json").json["revision"] == revisions.newest()
    assert messor("db", "downgrade", "--yes").code == 0
    assert messor("db", "status", "--json").json["revision"] == revisions.history()[-2]
    said = messor("db", "downgrade", "999", "--yes")
    assert said.code == 2
    assert "cannot be downgraded to 999" in said.err
    assert messor("db", "upgrade").code == 0


def test_what_is_written_is_its_owners_alone(dsn: str, tmp_path: Path) -> None:
    env = {"MESSOR_DATABASE_URL": dsn, "MESSOR_DATA_DIR": str(tmp_path / "data")}
    run_process("domains", "submit", "example.org", folder=tmp_path, **env)
    for words in (
        ("domains", "list", "--json", "-o", "domains.json"),
        ("audit", "politeness", "--svg", "pace.svg", "-o", "audit.txt"),
    ):
        said = run_process(*words, folder=tmp_path, **env)
        assert said.code == 0, said.err
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.name for path in written} >= {"domains.json", "pace.svg", "audit.txt"}
    assert [path for path in written if path.stat().st_mode & 0o077] == []


def test_a_file_that_was_open_to_others_is_told_of(messor: Messor, tmp_path: Path) -> None:
    (tmp_path / "list.json").touch()
    (tmp_path / "list.json").chmod(0o644)
    said = messor("domains", "list", "--json", "-o", "list.json")
    assert said.code == 0
    assert "chmod 600 list.json" in said.err
