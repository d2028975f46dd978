"""The command line as a person meets it: words in, an exit code, two streams out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from messor.cli.main import main
from messor.extraction import reader_pool


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Messor = Callable[..., Said]


@pytest.fixture
def messor(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Messor:
    """Runs one command in this process, on a database of this test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MESSOR_DATABASE_URL", dsn)
    monkeypatch.setenv("MESSOR_DATA_DIR", str(tmp_path / "data"))
    # A process that reads takes longer to start than a test has to read.
    monkeypatch.setattr(reader_pool, "_cores", lambda: 1)

    def run(*words: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["messor", *words])
        code = 0
        try:
            main()
        except SystemExit as done:
            code = int(done.code or 0)
        captured = capsys.readouterr()
        return Said(code, captured.out, captured.err)

    return run


def without_extraction(messor: Messor) -> Messor:
    """Crawls whose records nobody asks for: extracting starts a process in each of them."""

    def run(*words: str) -> Said:
        return messor(*words, *(["--no-extract"] if words[0] == "crawl" else []))

    return run


def run_process(*words: str, folder: Path, **env: str) -> Said:
    """Runs one command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "messor", *words],
        cwd=folder,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return Said(done.returncode, done.stdout, done.stderr)
