"""Tables of a PDF page: those in a grid of rules, and those whose columns are aligned text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from messor.content.documents import markup
from messor.content.documents.glyphs import Glyph, Line
from messor.content.documents.rules import Cell, Grid

_LEAST_ROWS = 3  # of a table without rules
_WIDE = 0.38  # of the page; columns of running text are wider than cells
_ALIGNED = 6.0  # points between the edges of cells of one column


@dataclass(slots=True)
class RuledTable:
    """A grid and the glyphs in its cells."""

    grid: Grid
    glyphs: dict[Cell, list[Glyph]] = field(default_factory=dict)

    @property
    def is_table(self) -> bool:
        """A frame around text is a grid, but most of its cells are empty or it has one column."""
        filled = sum(any(g.character.strip() for g in held) for held in self.glyphs.values())
        return filled > 1 and len(self.grid.xs) > 2

    def html(self) -> str:
        rows: dict[int, list[str]] = {row: [] for row in range(len(self.grid.ys) - 1)}
        for cell in sorted(self.grid.cells, key=lambda one: (one.row, one.column)):
            said = " ".join("".join(g.character for g in self.glyphs.get(cell, [])).split())
            spans = {}
            if cell.columns > 1:
                spans["colspan"] = cell.columns
            if cell.rows > 1:
                spans["rowspan"] = cell.rows
            rows[cell.row].append(markup.element("td", markup.text(said), **spans))
        return markup.element(
            "table", "\n".join(markup.element("tr", "".join(cells)) for cells in rows.values())
        )


def split_by_grid(
    glyphs: Sequence[Glyph], grids: Sequence[Grid]
) -> tuple[list[Glyph], list[tuple[int, RuledTable]]]:
    """Glyphs outside of tables, and each table with the number of glyphs before it."""
    tables = [RuledTable(grid) for grid in grids]
    places: dict[int, int] = {}
    outside: list[Glyph] = []
    held: list[tuple[int, Cell] | None] = []
    last: tuple[int, Cell] | None = None
    for glyph in glyphs:
        if glyph.character.strip():
            last = _place(glyph, tables)
        held.append(last)
        if last is not None:
            number, cell = last
            places.setdefault(number, len(outside))
            is_break = glyph.character in "\r\n"
            kept = _as_space(glyph) if is_break else glyph
            tables[number].glyphs.setdefault(cell, []).append(kept)
        else:
            outside.append(glyph)
    false = {number for number, table in enumerate(tables) if not table.is_table}
    if false & set(places):
        # A frame is not a table: start again without it, so that the order of its text is kept.
        return split_by_grid(glyphs, [grid for n, grid in enumerate(grids) if n not in false])
    return outside, [(places[n], tables[n]) for n in sorted(places, key=lambda one: places[one])]


def _place(glyph: Glyph, tables: Sequence[RuledTable]) -> tuple[int, Cell] | None:
    x, y = (glyph.left + glyph.right) / 2, (glyph.bottom + glyph.top) / 2
    for number, table in enumerate(tables):
        if table.grid.holds(x, y) and (cell := table.grid.cell_at(x, y)) is not None:
            return number, cell
    return None


def _as_space(glyph: Glyph) -> Glyph:
    return Glyph(" ", glyph.left, glyph.bottom, glyph.right, glyph.top, glyph.size, glyph.is_bold)


def rows_of(lines: Sequence[Line]) -> list[list[Line]]:
    """Consecutive lines that stand beside each other, from left to right, are one row."""
    rows: list[list[Line]] = []
    for line in lines:
        if rows and _is_beside(rows[-1][-1], line):
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _is_beside(before: Line, line: Line) -> bool:
    overlap = min(before.top, line.top) - max(before.bottom, line.bottom)
    height = min(before.top - before.bottom, line.top - line.bottom)
    return line.left > before.right and overlap > height / 2


def aligned_run(rows: Sequence[list[Line]], width: float) -> int:
    """How many rows from the first on form a table without rules; 0 if they do not."""
    columns = [line.left for line in rows[0]], [line.right for line in rows[0]]
    count = 0
    for row in rows:
        if len(row) < 2 or len(row) != len(columns[0]):
            break
        if not all(
            abs(line.left - left) < _ALIGNED or abs(line.right - right) < _ALIGNED
            for line, left, right in zip(row, *columns, strict=True)
        ):
            break
        count += 1
    cells = [line for row in rows[:count] for line in row]
    wide = sum(line.right - line.left > _WIDE * width for line in cells)
    return count if count >= _LEAST_ROWS and wide * 2 < len(cells) else 0


def aligned_html(rows: Sequence[list[Line]]) -> str:
    return markup.table([[line.text for line in row] for row in rows])
