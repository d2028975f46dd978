"""A release: wheel and sdist are built, installed where nothing else is, and run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from messor import __version__

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def test_the_version_is_stated_once() -> None:
    assert PROJECT["project"]["version"] == __version__
    stated = [
        path
        for path in (ROOT / "src").rglob("*.py")
        if f'"{__version__}"' in path.read_text("utf-8")
    ]
    assert stated == []


def run(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.wide
def test_what_is_built_runs_in_a_clean_environment(tmp_path: Path) -> None:
    builder, clean, dist = tmp_path / "builder", tmp_path / "clean", tmp_path / "dist"
    run(sys.executable, "-m", "venv", builder)
    run(builder / "bin" / "pip", "install", "-q", *PROJECT["build-system"]["requires"])
    run(builder / "bin" / "python", "-m", "hatchling", "build", "-d", dist)
    (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    names = zipfile.ZipFile(wheel).namelist()
    assert "messor/console/static/vendor/htmx.min.js" in names
    assert any(name.startswith("messor/store/migrations/functions/") for name in names)
    with tarfile.open(sdist) as packed:
        kept = {name.partition("/")[2] for name in packed.getnames()}
    assert {"pyproject.toml", "hatch_build.py", "LICENSE", "README.md"} <= kept
    run(sys.executable, "-m", "venv", clean)
    pins = ROOT / "requirements.txt"
    run(clean / "bin" / "pip", "install", "-q", "--require-hashes", "-r", pins)
    for package in (wheel, sdist):
        run(clean / "bin" / "pip", "install", "-q", "--no-deps", "--force-reinstall", package)
        messor = clean / "bin" / "messor"
        assert __version__ in run(messor, "--version")
        data = tmp_path / package.suffix.strip(".")
        status = run(messor, "db", "upgrade", MESSOR_DATA_DIR=str(data))
        assert status == ""
        facts = json.loads(run(messor, "db", "status", "--json", MESSOR_DATA_DIR=str(data)))
        assert facts["revision"] == facts["newest"]
