"""The figures of docs/comparison.md are those of the scripts; each statement about others has its source."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "comparison.md").read_text("utf-8")


def rows(text: str, start: str) -> dict[str, list[str]]:
    """Rows of the first table after some words, by their first cell; the header as ''."""
    found: dict[str, list[str]] = {}
    for line in text[text.index(start) :].splitlines():
        if line.startswith("|"):
            name, *cells = [cell.strip() for cell in line.strip("|").split("|")]
            found["" if not found else name] = cells if found else [name, *cells]
        elif found:
            break
    return found


def test_figures_of_speed_are_those_of_the_benchmark() -> None:
    measured = rows((ROOT / "bench" / "results.md").read_text("utf-8"), "## HTTP: 10,000 pages")
    columns = dict(zip(measured[""][1:], range(20), strict=False))
    shown = rows(PAGE, "| 10,000 pages of 20 hosts")
    for name, cells in shown.items():
        if name and not name.startswith("-"):
            mine = [measured[name][columns[title]] for title in shown[""][1:]]
            assert cells == mine, name


def test_figures_of_truth_are_those_of_the_last_run() -> None:
    text = (ROOT / "docs" / "truth.md").read_text("utf-8")
    lines = text[text.index("## Main content by page type (WCXB)") :].splitlines()
    heads = next(
        [c.strip() for c in line.strip("|").split("|")]
        for line in lines
        if line.startswith("| reader")
    )
    shown = rows(PAGE, "| | F1 | article")
    for reader in ("messor", "trafilatura"):
        held = next(line for line in lines if line.startswith(f"| {reader} | held "))
        values = dict(zip(heads, (c.strip() for c in held.strip("|").split("|")), strict=True))
        assert shown[reader] == [values[name] for name in shown[""][1:]], reader
    dates = text[text.index("## Dates of publication (htmldate)") :]
    for reader in ("messor", "htmldate"):
        held = next(
            line for line in dates.splitlines() if line.startswith(f"| {reader} | published | held")
        )
        assert held.rstrip(" |").rpartition(" ")[2] in PAGE


def test_statements_about_others_have_a_source() -> None:
    table = rows(PAGE, "## What differs")
    for name, cells in table.items():
        reported = re.search(
            r"asked for|reported|can lose|open in|a paid service|Fire-engine", cells[-1]
        )
        if name and reported:
            assert "](https://" in cells[-1], name
