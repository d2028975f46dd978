"""Scripts that run where Scrapy, Dagster and pandas are installed (make recipes)."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-recipes" / "bin" / "python"
RECIPES = ROOT / "packages" / "client" / "recipes"

needs_recipes = pytest.mark.skipif(not PYTHON.exists(), reason="make recipes installs them")


def run(script: str, folder: Path, **environment: str) -> Any:
    """What a script prints as JSON in its last line."""
    path = os.pathsep.join(map(str, (ROOT / "packages" / "client" / "src", RECIPES)))
    done = subprocess.run(
        [PYTHON, "-c", script],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])
