"""The site of the documentation: its menu names pages that exist, and mkdocs finds no broken link."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "deploy" / "docs" / "mkdocs.yml"
PYTHON = ROOT / ".venv-docs" / "bin" / "python"


def pages(menu: object) -> list[str]:
    if isinstance(menu, str):
        return [menu]
    each = menu.values() if isinstance(menu, dict) else menu
    assert not isinstance(each, (int, type(None)))
    return [page for one in each for page in pages(one)]  # type: ignore[attr-defined]


def test_the_menu_names_every_page() -> None:
    named = set(pages(yaml.safe_load(CONFIG.read_text("utf-8"))["nav"])) - {"index.md"}
    docs = ROOT / "docs"
    there = {
        page.relative_to(docs).as_posix()
        for page in [*docs.glob("*.md"), *docs.glob("guides/*.md")]
    }
    assert named == there


@pytest.mark.wide
@pytest.mark.skipif(not PYTHON.exists(), reason="make docs installs mkdocs")
def test_the_site_is_built_without_a_broken_link(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            PYTHON,
            "-m",
            "mkdocs",
            "build",
            "--strict",
            "--config-file",
            CONFIG,
            "--site-dir",
            tmp_path,
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    first = (tmp_path / "index.html").read_text("utf-8")
    assert "governed" in first.casefold()
    assert "googleapis" not in first  # nothing is loaded from elsewhere
    assert (tmp_path / "guides" / "first-hour" / "index.html").exists()
