"""What a corpus's module returns, and how it is written: as markdown for people, as JSON for programs."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

Cell = str | int | float | None
_OPENING = (
    "# Truth\n\nHow true what is read from pages is, on pages that others collected and marked."
    " A third of each corpus's sites is held back: its pages are scored and never looked at."
    " `make truth` writes this file; its figures are those of its last run."
)


@dataclass(frozen=True)
class Table:
    """Rows of figures under their headings; floats are written with three decimals."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Section:
    """The figures of one corpus."""

    title: str
    how: str  # one paragraph: what is compared with what
    figures: Table
    misses: Table | None = None  # by class, on the seen slice alone
    remarks: tuple[str, ...] = field(default=())


def as_markdown(sections: list[Section]) -> str:
    """Return the whole report."""
    parts = [_OPENING]
    parts.extend(_section(section) for section in sections)
    return "\n\n".join(parts) + "\n"


def as_json(sections: list[Section]) -> list[dict[str, Any]]:
    """Return the same as values for `json.dumps`."""
    return [asdict(section) for section in sections]


def _section(section: Section) -> str:
    parts = [f"## {section.title}", section.how, _table(section.figures)]
    if section.misses is not None:
        parts += ["Misses by class, of the seen slice:", _table(section.misses)]
    parts.extend(section.remarks)
    return "\n\n".join(parts)


def _table(table: Table) -> str:
    head = f"| {' | '.join(table.columns)} |\n|{'---|' * len(table.columns)}"
    lines = [f"| {' | '.join(map(_cell, row))} |" for row in table.rows]
    return "\n".join([head, *lines])


def _cell(value: Cell) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
