"""Print the result of a parser comparison."""

from __future__ import annotations

from typing import Any

from messor.cli.output import print_table
from messor.core.terminal import say

FIELDS = ("field", "same", "different", "gained", "lost", "invalid", "was invalid")
MAX_FIELDS = 40


def print_comparison(report: dict[str, Any], *, candidate: str | None = None) -> None:
    """Print how many pages were compared and the fields that differ, most differences first."""
    summary = f"{report['pages']} pages compared"
    if report["unreadable"]:
        summary += f", {report['unreadable']} could not be read"
    if candidate is None:
        say(f"{summary}.")
    else:
        say(f"{summary}; {_coverage(report, candidate)}.")
    if not report["pages"]:
        return
    rows = [_row(name, tally) for name, tally in report["fields"].items() if _differs(tally)]
    if not rows:
        say("All fields match the stored values.")
        return
    rows.sort(key=lambda row: (-sum(row[2:6]), row[0]))
    print_table(FIELDS, rows[:MAX_FIELDS])
    if len(rows) > MAX_FIELDS:
        say(f"{len(rows) - MAX_FIELDS} more fields differ; use --json to list all.")


def _coverage(report: dict[str, Any], candidate: str) -> str:
    """Say on how many pages the candidate found records; other parsers handle the rest."""
    text = f"{candidate} found records on {report['read']} of them"
    if report["failed"]:
        text += f" and failed on {report['failed']} others"
    return text


def _differs(tally: dict[str, Any]) -> bool:
    moved = tally["different"] or tally["gained"] or tally["lost"]
    return bool(moved or tally["invalid"] != tally["invalid_before"])


def _row(name: str, tally: dict[str, Any]) -> tuple[Any, ...]:
    counts = ("same", "different", "gained", "lost", "invalid", "invalid_before")
    return name, *(tally[count] for count in counts)
