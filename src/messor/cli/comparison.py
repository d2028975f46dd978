"""What a comparison of parsers came to, in words and figures for people."""

from __future__ import annotations

from typing import Any

from messor.cli.output import print_table
from messor.core.terminal import say

FIELDS = ("field", "same", "different", "gained", "lost", "invalid", "was invalid")
MOST_FIELDS = 40


def print_comparison(report: dict[str, Any], *, candidate: str | None = None) -> None:
    """The fields in which both differ, the most first, and on how many pages they were held together."""
    told = f"{report['pages']} pages compared"
    if report["unreadable"]:
        told += f", {report['unreadable']} could not be read"
    if candidate is None:
        say(f"{told}.")
    else:
        say(f"{told}; {_part_of(report, candidate)}.")
    if not report["pages"]:
        return
    rows = [_row(name, tally) for name, tally in report["fields"].items() if _differs(tally)]
    if not rows:
        say("Every field says the same as what is stored.")
        return
    rows.sort(key=lambda row: (-sum(row[2:6]), row[0]))
    print_table(FIELDS, rows[:MOST_FIELDS])
    if len(rows) > MOST_FIELDS:
        say(f"{len(rows) - MOST_FIELDS} more fields differ; --json tells all of them.")


def _part_of(report: dict[str, Any], candidate: str) -> str:
    """What a candidate had to do with it: others answer for pages that it leaves to them."""
    told = f"{candidate} found records on {report['read']} of them"
    if report["failed"]:
        told += f", and failed on {report['failed']} others"
    return told


def _differs(tally: dict[str, Any]) -> bool:
    moved = tally["different"] or tally["gained"] or tally["lost"]
    return bool(moved or tally["invalid"] != tally["invalid_before"])


def _row(name: str, tally: dict[str, Any]) -> tuple[Any, ...]:
    counts = ("same", "different", "gained", "lost", "invalid", "invalid_before")
    return name, *(tally[count] for count in counts)
