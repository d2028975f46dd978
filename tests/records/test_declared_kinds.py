"""A record kind is declared once: a throwaway one is read, stored, published and listed everywhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def test_one_declaration_is_enough() -> None:
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider",
        "-p", "tests.records.throwaway_kind", str(HERE / "throwaway_kind_is_served.py"),
    ]  # fmt: skip
    done = subprocess.run(
        command, cwd=HERE.parents[1], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout
