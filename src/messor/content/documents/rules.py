"""Rules of a PDF page: the straight lines it draws, and the grids that they form.

A grid is a connected group of horizontal and vertical rules. Cells without a rule between them are
one cell.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import pypdfium2 as pdfium
from pypdfium2 import raw

_NEAR = 3.0  # points; rules closer than this are one, such as the edges of a thin rectangle
_SHORT = 4.0  # points; shorter strokes are part of a drawing
_MAX_PATHS = 5_000
_MAX_SEGMENTS = 2_000
_MAX_SIDE = 400  # cells


@dataclass(frozen=True, slots=True)
class Rule:
    """A horizontal or vertical stroke: where it lies, and from where to where."""

    is_horizontal: bool
    at: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a grid, by its rows and columns, which may be several."""

    row: int
    column: int
    rows: int
    columns: int


@dataclass(frozen=True, slots=True)
class Grid:
    """Edges from left to right and from top to bottom, and the cells between them."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    cells: tuple[Cell, ...]

    def holds(self, x: float, y: float) -> bool:
        return self.xs[0] <= x <= self.xs[-1] and self.ys[-1] <= y <= self.ys[0]

    def cell_at(self, x: float, y: float) -> Cell | None:
        column = sum(edge <= x for edge in self.xs) - 1
        row = sum(edge >= y for edge in self.ys) - 1
        for cell in self.cells:
            if (
                cell.row <= row < cell.row + cell.rows
                and cell.column <= column < cell.column + cell.columns
            ):
                return cell
        return None


def grids_of(page: pdfium.PdfPage) -> list[Grid]:
    """The grids of a page with more than one cell."""
    found = []
    for group in _connected(_merged(list(_rules_of(page)))):
        grid = _grid(group)
        if grid is not None and len(grid.cells) > 1:
            found.append(grid)
    return found


def _rules_of(page: pdfium.PdfPage) -> Iterator[Rule]:
    for number, path in enumerate(page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH])):
        if number >= _MAX_PATHS:
            return
        points = _points(path)
        for (x, y), (to_x, to_y) in pairwise(points):
            if abs(y - to_y) < 1 and abs(x - to_x) > _SHORT:
                yield Rule(True, (y + to_y) / 2, min(x, to_x), max(x, to_x))
            elif abs(x - to_x) < 1 and abs(y - to_y) > _SHORT:
                yield Rule(False, (x + to_x) / 2, min(y, to_y), max(y, to_y))


def _points(path: pdfium.PdfObject) -> list[tuple[float, float]]:
    """The corners of a path on the page; a closed one ends where it began."""
    count = raw.FPDFPath_CountSegments(path.raw)
    if not 2 <= count <= _MAX_SEGMENTS:
        return []
    matrix = path.get_matrix()
    x, y = ctypes.c_float(), ctypes.c_float()
    points: list[tuple[float, float]] = []
    begun: tuple[float, float] | None = None
    for index in range(count):
        segment = raw.FPDFPath_GetPathSegment(path.raw, index)
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        point = matrix.on_point(x.value, y.value)
        if raw.FPDFPathSegment_GetType(segment) == raw.FPDF_SEGMENT_MOVETO:
            begun = point
            points.append((float("inf"), float("inf")))  # no stroke leads here
        points.append(point)
        if raw.FPDFPathSegment_GetClose(segment) and begun is not None:
            points.append(begun)
    return points


def _merged(rules: list[Rule]) -> list[Rule]:
    """Rules on one line that touch or lie beside each other are one."""
    merged: list[Rule] = []
    for rule in sorted(rules, key=lambda one: (one.is_horizontal, one.at, one.start)):
        for index in range(len(merged) - 1, max(-1, len(merged) - 40), -1):
            other = merged[index]
            if other.is_horizontal != rule.is_horizontal or rule.at - other.at > _NEAR:
                continue
            if rule.start <= other.end + _NEAR and other.start <= rule.end + _NEAR:
                start, end = min(rule.start, other.start), max(rule.end, other.end)
                merged[index] = Rule(rule.is_horizontal, other.at, start, end)
                break
        else:
            merged.append(rule)
    return merged


def _connected(rules: list[Rule]) -> Iterator[list[Rule]]:
    """Groups of rules that cross or touch each other."""
    waiting = list(rules)
    while waiting:
        group, open_rules = [], [waiting.pop()]
        while open_rules:
            rule = open_rules.pop()
            group.append(rule)
            touching = [other for other in waiting if _touch(rule, other)]
            waiting = [other for other in waiting if not _touch(rule, other)]
            open_rules += touching
        yield group


def _touch(one: Rule, other: Rule) -> bool:
    if one.is_horizontal == other.is_horizontal:
        return False
    return (
        one.start - _NEAR <= other.at <= one.end + _NEAR
        and other.start - _NEAR <= one.at <= other.end + _NEAR
    )


def _grid(group: list[Rule]) -> Grid | None:
    xs = _edges([rule.at for rule in group if not rule.is_horizontal])
    ys = _edges([rule.at for rule in group if rule.is_horizontal])[::-1]
    if not 2 <= len(xs) <= _MAX_SIDE or not 2 <= len(ys) <= _MAX_SIDE:
        return None
    return Grid(tuple(xs), tuple(ys), tuple(_cells(group, xs, ys)))


def _edges(positions: list[float]) -> list[float]:
    edges: list[float] = []
    for position in sorted(positions):
        if not edges or position - edges[-1] > _NEAR:
            edges.append(position)
    return edges


def _cells(group: list[Rule], xs: list[float], ys: list[float]) -> Iterator[Cell]:
    """Cells from the top left on, each as wide and then as high as no rule divides it."""
    taken: set[tuple[int, int]] = set()
    for row in range(len(ys) - 1):
        for column in range(len(xs) - 1):
            if (row, column) in taken:
                continue
            columns = 1
            while column + columns < len(xs) - 1 and not _is_drawn(
                group, xs[column + columns], ys[row + 1], ys[row], is_horizontal=False
            ):
                columns += 1
            rows = 1
            while row + rows < len(ys) - 1 and not _is_drawn(
                group, ys[row + rows], xs[column], xs[column + columns], is_horizontal=True
            ):
                rows += 1
            taken.update((row + r, column + c) for r in range(rows) for c in range(columns))
            yield Cell(row, column, rows, columns)


def _is_drawn(
    group: list[Rule], at: float, start: float, end: float, *, is_horizontal: bool
) -> bool:
    """Whether a rule covers the middle of an edge."""
    middle = (start + end) / 2
    return any(
        rule.is_horizontal == is_horizontal
        and abs(rule.at - at) <= _NEAR
        and rule.start - _NEAR <= middle <= rule.end + _NEAR
        for rule in group
    )
