"""Pages made to be heavy for their reader: imported or refused with a sentence, soon and small."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from messor.imports.prepare import MAX_PAGE_BYTES

MOST_MEGABYTES = 200
MOST_CPU_SECONDS = 10.0
NESTED = "<div>" * 400 + "x" + "</div>" * 400
CELLS = "<table><tr><td>a</table>"
BOLD = "<b>x</b>"
OPEN = "<i>"


def _import(dsn: str, folder: Path, saved: Path) -> tuple[str, float, float]:
    """Output, memory of all its processes in MB, and their processor seconds."""
    environment = {"MESSOR_DATABASE_URL": dsn, "MESSOR_DATA_DIR": str(folder / "data")}
    command = [sys.executable, "-m", "messor", "import", str(saved)]
    command += ["--url", "https://one.test/", "--approve"]
    out = folder / "out.txt"
    with out.open("wb") as said:
        process = subprocess.Popen(
            command, env={**os.environ, **environment}, stdout=said, stderr=said
        )
        most, before = 0, resource.getrusage(resource.RUSAGE_CHILDREN)
        while process.poll() is None:
            used = 0
            with contextlib.suppress(psutil.Error):
                whole = psutil.Process(process.pid)
                for each in (whole, *whole.children(recursive=True)):
                    with contextlib.suppress(psutil.Error):
                        used += each.memory_full_info().uss
            most = max(most, used)
            time.sleep(0.02)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return out.read_text(), most / 1e6, seconds


def _save(folder: Path, count: int, piece: str, size: int) -> Path:
    folder.mkdir()
    for number in range(count):
        page = f"<title>{number}</title>" + piece * (size // len(piece))
        (folder / f"{number}.html").write_text(page)
    return folder


@pytest.mark.parametrize(
    "count, piece, size",
    [
        (1, BOLD, 19_000_000),
        (1, NESTED, 19_000_000),
        pytest.param(16, NESTED, 1_900_000, marks=pytest.mark.wide),
        pytest.param(16, CELLS, 1_900_000, marks=pytest.mark.wide),
        pytest.param(16, OPEN, 1_900_000, marks=pytest.mark.wide),
        pytest.param(16, BOLD, 1_900_000, marks=pytest.mark.wide),
        pytest.param(6, BOLD, 4_900_000, marks=pytest.mark.wide),
    ],
)
def test_heavy_pages(dsn: str, tmp_path: Path, count: int, piece: str, size: int) -> None:
    small = _save(tmp_path / "small", 1, "<p>a", 100)
    said, before, took = _import(dsn, tmp_path, small)
    assert "1 ok" in said
    said, most, seconds = _import(dsn, tmp_path, _save(tmp_path / "heavy", count, piece, size))
    assert most - before <= MOST_MEGABYTES
    assert seconds - took <= MOST_CPU_SECONDS
    if size > MAX_PAGE_BYTES:
        assert "imported pages may have up to 5 MB" in said
