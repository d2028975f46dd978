"""docs/where.md stays true: it covers twenty changes, each with at most three paths that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| (?!change |-)(.+?) \| (.+?) \| .*\|$", re.MULTILINE)
CHANGES = {
    change: re.findall(r"`([^`]+)`", where)
    for change, where in ROW.findall((ROOT / "docs" / "where.md").read_text(encoding="utf-8"))
}


def test_it_covers_twenty_changes() -> None:
    assert len(CHANGES) >= 20


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_names_at_most_three_paths_that_exist(change: str) -> None:
    paths = CHANGES[change]
    assert 1 <= len(paths) <= 3
    assert [path for path in paths if not (ROOT / path).exists()] == []
    assert [path for path in paths if (ROOT / path).is_dir() != path.endswith("/")] == []
