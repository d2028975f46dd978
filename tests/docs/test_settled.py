"""Each row of the requirements that is settled otherwise has its reason in decision 41."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
REQUIREMENT = re.compile(r"^\| ([A-Z]{3}-\d+) \|")
ROW = re.compile(r"[A-Z]{3}-\d+")


def settled() -> set[str]:
    lines = (DOCS / "requirements.md").read_text(encoding="utf-8").splitlines()
    rows = [(REQUIREMENT.match(line), line.split(" | ")) for line in lines]
    return {row[1] for row, cells in rows if row and "settled:" in cells[3]}


def test_each_settled_row_has_its_reason() -> None:
    text = (DOCS / "decisions" / "0041-where-the-specifications-differ.md").read_text("utf-8")
    table = [line.split(" | ") for line in text.splitlines() if ROW.search(line)]
    named = [row for cells in table for row in ROW.findall(cells[2])]
    assert len(named) == len(set(named)), "one reason each"
    assert set(named) == settled()
    assert all(len(cells[1]) > 30 for cells in table)


def test_no_two_decisions_share_a_number() -> None:
    files = sorted((DOCS / "decisions").glob("*.md"))
    numbers = [path.name[:4] for path in files]
    assert len(set(numbers)) == len(numbers) > 50
    for path in files:
        assert path.read_text("utf-8").startswith(f"# {int(path.name[:4])}. "), path.name
