"""What the embedded server says when it cannot run, and which programs it picks."""

from __future__ import annotations

import os
import pwd
import re
import subprocess
import sys
from pathlib import Path

import pytest

import messor
from messor.errors import UnavailableError, UsageError
from messor.store.embedded import folder as folder_module
from messor.store.embedded import programs as programs_module
from messor.store.embedded.folder import DataFolder
from messor.store.embedded.locks import held_alone
from messor.store.embedded.programs import find_programs
from messor.store.server import EmbeddedServer

AS_NORMAL_USER = """
import pathlib, sys
from messor.errors import UnavailableError
from messor.store.server import EmbeddedServer
base = pathlib.Path(sys.argv[1])
try:
    EmbeddedServer(base / "closed").acquire()
except UnavailableError as error:
    print(error)
server = EmbeddedServer(base / "open")
server.acquire()
print(pathlib.Path(f"/proc/{server.status().pid}").stat().st_uid)
server.release()
print(server.status().running)
"""


def fake_data(data_dir: Path, version: str) -> None:
    data = data_dir / "postgres" / "data"
    data.mkdir(parents=True)
    (data / "PG_VERSION").write_text(f"{version}\n")


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    server = EmbeddedServer(tmp_path / "file" / "data")
    with pytest.raises(UnavailableError, match=r"cannot use .*file.*MESSOR_DATA_DIR"):
        server.acquire()
    server.release()


if os.geteuid() != 0:  # root may write everywhere; the test below does the same as another account

    def test_a_folder_that_is_not_writable(tmp_path: Path) -> None:
        tmp_path.chmod(0o500)
        with pytest.raises(UnavailableError, match=r"cannot use .*Permission denied.*writable"):
            EmbeddedServer(tmp_path / "data").acquire()


@pytest.mark.skipif(os.geteuid() != 0 or sys.platform != "linux", reason="only root can change")
def test_a_normal_user_is_refused_in_one_sentence_and_runs_its_own(tmp_path: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    pythons = [sys.executable, f"/usr/bin/python3.{sys.version_info.minor}"]
    python = next((python for python in pythons if runs_for(nobody.pw_uid, python)), None)
    if python is None:
        pytest.skip("no Python that another account may run")
    place = Path(os.path.realpath(subprocess.check_output(["mktemp", "-d"], text=True).strip()))
    try:
        place.chmod(0o755)
        (place / "closed").mkdir(mode=0o755)
        (place / "open").mkdir()
        os.chown(place / "open", nobody.pw_uid, nobody.pw_gid)
        answer = subprocess.run(
            [python, "-c", AS_NORMAL_USER, place], check=False, capture_output=True, text=True,
            user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=[], cwd=place, timeout=180,
            env={"PYTHONPATH": os.pathsep.join([str(Path(messor.__file__).parents[1]), *sys.path])},
        )  # fmt: skip
    finally:
        subprocess.run(["rm", "-rf", "--", place], check=True)
    assert answer.returncode == 0, answer.stderr
    refusal, owner, running = answer.stdout.splitlines()
    assert re.search(r"cannot use .*closed/postgres \(Permission denied\): make it", refusal)
    assert (owner, running) == (str(nobody.pw_uid), "False")


def runs_for(uid: int, python: str) -> bool:
    try:
        return subprocess.run([python, "-c", ""], check=False, user=uid, cwd="/").returncode == 0
    except OSError:
        return False


def test_data_of_a_version_that_is_not_installed(tmp_path: Path) -> None:
    fake_data(tmp_path, "9999")
    server = EmbeddedServer(tmp_path)
    with pytest.raises(UnavailableError, match=r"PostgreSQL 9999, which is not installed"):
        server.acquire()
    assert server.status().version == "9999"
    assert server.status().users in {0, None}


def test_a_data_folder_that_holds_something_else(tmp_path: Path) -> None:
    (tmp_path / "postgres" / "data").mkdir(parents=True)
    with pytest.raises(UnavailableError, match="is not a PostgreSQL data folder"):
        EmbeddedServer(tmp_path).acquire()


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_module, "_MIN_FREE", 1 << 62)
    with pytest.raises(UnavailableError, match=r"The disk of .* is full"):
        EmbeddedServer(tmp_path).acquire()
    assert not (tmp_path / "postgres" / "data").exists()


def test_a_server_that_does_not_start_shows_its_log(tmp_path: Path) -> None:
    version = find_programs(None, None).major
    fake_data(tmp_path, str(version))
    (tmp_path / "postgres" / "data").chmod(0o700)
    with pytest.raises(UnavailableError, match=r"does not start[^$]*postgresql.conf"):
        EmbeddedServer(tmp_path).acquire()


def test_a_start_that_another_process_never_ends(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    with (
        held_alone(folder.start_lock, folder.own, limit=0),
        pytest.raises(UnavailableError, match="Another process"),
        held_alone(folder.start_lock, folder.own, limit=0.05),
    ):
        pass


def test_programs_follow_the_data(tmp_path: Path) -> None:
    newest = find_programs(None, None)
    wheel = programs_module._wheel_folders()
    assert newest.bin_dir in [folder.resolve() for folder in wheel]
    for folder in wheel:
        explicit = find_programs(folder, None)
        assert explicit.major <= newest.major
        assert find_programs(None, explicit.major) == explicit
    with pytest.raises(UnavailableError, match="not installed"):
        find_programs(newest.bin_dir, newest.major - 1)
    with pytest.raises(UsageError, match="does not contain"):
        find_programs(tmp_path, None)
