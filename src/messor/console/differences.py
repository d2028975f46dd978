"""Line-by-line differences of two texts, bounded for any input."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

MAX_LINES = 2_000
CONTEXT = 3


@dataclass(frozen=True, slots=True)
class ChangedLine:
    """One line: unchanged, removed, added, or a gap of omitted lines."""

    kind: str  # same, gone, new, gap
    text: str


@dataclass(frozen=True, slots=True)
class LineDifference:
    """The changed lines with some context."""

    changes: tuple[ChangedLine, ...]
    gone: int
    new: int
    is_cut: bool  # the input was truncated


def compare(older: str, newer: str) -> LineDifference:
    before, after = older.splitlines(), newer.splitlines()
    is_cut = max(len(before), len(after)) > MAX_LINES
    changes = tuple(_changes(before[:MAX_LINES], after[:MAX_LINES]))
    gone = sum(change.kind == "gone" for change in changes)
    new = sum(change.kind == "new" for change in changes)
    return LineDifference(changes, gone, new, is_cut)


def _changes(before: list[str], after: list[str]) -> Iterator[ChangedLine]:
    end = 0
    for group in SequenceMatcher(None, before, after).get_grouped_opcodes(CONTEXT):
        if group[0][1] > end:
            yield ChangedLine("gap", f"{group[0][1] - end} unchanged lines")
        for tag, start, stop, new_start, new_stop in group:
            if tag == "equal":
                yield from (ChangedLine("same", line) for line in before[start:stop])
            else:
                yield from (ChangedLine("gone", line) for line in before[start:stop])
                yield from (ChangedLine("new", line) for line in after[new_start:new_stop])
        end = group[-1][2]
    if end and end < len(before):
        yield ChangedLine("gap", f"{len(before) - end} unchanged lines")
