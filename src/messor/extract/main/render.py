"""Kept blocks as plain text and as markdown: headings, lists, quotes, code and tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress, groupby
from typing import NamedTuple

from messor.extract.main.blocks import Blocks, Layout
from messor.extract.main.inline import Inline, fence_for

_LEVELS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_LISTS = frozenset(("ul", "ol", "menu", "dir"))
_PLACED = _LISTS | {"li", "blockquote", "table", "tr", "td", "th"}
# A cell with more than this makes a table a means of layout.
_MAX_CELL = 400
_MAX_COLUMNS = 30
_MAX_DEPTH = 6


class _Place(NamedTuple):
    """Where a box stands: the numbers are those of boxes, -1 for none."""

    quotes: int = 0
    depth: int = 0  # of lists within each other
    list_: int = -1
    item: int = -1
    table: int = -1
    row: int = -1
    cell: int = -1


_OUTSIDE = _Place()
_Placed = tuple[int, _Place]  # a block's number, and where it stands


class Places:
    """The places of boxes, found when asked for: most boxes hold nothing that is kept."""

    def __init__(self, layout: Layout) -> None:
        self._tags = layout.boxes.tags
        self._parents = layout.boxes.parents
        self._known = {-1: _OUTSIDE}
        self.has_tables = False  # whether any place found so far is in one

    def of(self, number: int) -> _Place:
        known = self._known
        place = known.get(number)
        if place is not None:
            return place
        above = []
        while place is None:
            above.append(number)
            number = self._parents[number]
            place = known.get(number)
        for number in reversed(above):
            tag = self._tags[number]
            if tag in _PLACED:
                place = _placed(place, tag, number)
                self.has_tables |= tag == "table"
            known[number] = place
        return place


def _placed(place: _Place, tag: str, number: int) -> _Place:
    quotes, depth, list_, item, table, row, cell = place
    if tag in _LISTS:
        return _Place(quotes, min(depth + 1, _MAX_DEPTH), number, -1, table, row, cell)
    if tag == "li":
        return _Place(quotes, max(depth, 1), list_, number, table, row, cell)
    if tag == "blockquote":
        return _Place(min(quotes + 1, _MAX_DEPTH), depth, list_, item, table, row, cell)
    if tag == "table":
        return _Place(quotes=quotes, table=number)
    if tag == "tr":
        return _Place(quotes, depth, list_, item, table, number, -1)
    return _Place(quotes, depth, list_, item, table, row, number)


def render(layout: Layout, kept: Sequence[int], url: str) -> tuple[str, str]:
    """The kept blocks as plain text and as markdown; addresses are made absolute against `url`."""
    places = Places(layout)
    boxes = layout.blocks.boxes
    placed = [(number, places.of(boxes[number])) for number in kept]
    text = _plain_text(layout.blocks, placed)
    writer = _Writer(layout, Inline(url, text))
    if places.has_tables:
        _write_with_tables(writer, placed)
    else:
        for number, place in placed:
            writer.write(number, place)
    return text, writer.finish()


def _plain_text(blocks: Blocks, placed: Sequence[_Placed]) -> str:
    """One block a line; the cells of a row share one."""
    texts = blocks.texts
    lines: list[str] = []
    last = _OUTSIDE
    for number, place in placed:
        if place.row >= 0 and place.row == last.row and place.table == last.table:
            lines[-1] += ("\t" if place.cell != last.cell else " ") + texts[number]
        else:
            lines.append(texts[number])
        last = place
    return "\n".join(lines)


def _write_with_tables(writer: _Writer, placed: Sequence[_Placed]) -> None:
    for table, group in groupby(placed, lambda each: each[1].table):
        blocks = list(group)
        if table < 0 or not writer.write_table(table, blocks):
            for number, place in blocks:
                writer.write(number, place)


class _Writer:
    def __init__(self, layout: Layout, inline: Inline) -> None:
        self._blocks = layout.blocks
        self._boxes = layout.boxes
        self._inline = inline
        self._parts: list[str] = []
        self._last = _OUTSIDE
        self._numbers: dict[int, int] = {}  # of the last item in each ordered list

    def finish(self) -> str:
        return "".join(self._parts).strip("\n")

    def write(self, number: int, place: _Place) -> None:
        kind = self._blocks.kinds[number]
        level = _LEVELS.get(kind, 0)
        if kind == "pre":
            text = _fenced(self._blocks.texts[number])
        else:
            text = self._rendered(number, emphasis=not level)
            if kind == "dt":
                text = f"**{text}**"
        if not text:
            return
        if place.item >= 0:
            self._write_item(place, f"**{text}**" if level else text)
        else:
            if level:
                text = f"{'#' * level} " + text.replace("\n", " ")
            self._put(place, text, "")
        self._last = place

    def _rendered(self, number: int, *, emphasis: bool = True) -> str:
        blocks = self._blocks
        return self._inline.render(
            blocks.texts[number], blocks.markup.get(number), emphasis=emphasis
        )

    def _write_item(self, place: _Place, text: str) -> None:
        indent = "    " * (place.depth - 1)
        if place.item == self._last.item:
            self._put(place, text, indent + "    ")
            return
        marker = self._marker(place)
        lines = text.split("\n")
        first = f"{indent}{marker}{lines[0]}"
        body = "\n".join([first, *(f"{indent}    {line}" for line in lines[1:])])
        self._put(place, body, "", close=self._last.item >= 0)

    def _marker(self, place: _Place) -> str:
        if place.list_ >= 0 and self._boxes.tags[place.list_] == "ol":
            number = self._numbers[place.list_] = self._numbers.get(place.list_, 0) + 1
            return f"{number}. "
        return "- "

    def _put(self, place: _Place, text: str, indent: str, *, close: bool = False) -> None:
        quotes = place.quotes
        if quotes or indent or "\n" in text:
            start = "> " * quotes + indent
            text = "\n".join([f"{start}{line}".rstrip() for line in text.split("\n")])
        parting = "\n" if close else "\n\n"
        if quotes and not close:
            # A quote that goes on is one quote: its paragraphs are parted within it.
            shared = "> " * min(quotes, self._last.quotes)
            parting = f"\n{shared.rstrip()}\n"
        self._parts += (parting, text)

    def write_table(self, table: int, placed: Sequence[_Placed]) -> bool:
        """Write a table that holds data; False for one that lays out the page."""
        held: dict[int, list[int]] = {}
        for number, place in placed:
            held.setdefault(place.cell, []).append(number)
        sizes = self._blocks.sizes
        if any(sum(sizes[number] for number in cell) > _MAX_CELL for cell in held.values()):
            return False
        rows = [cells for cells in self._cells(table) if any(cell in held for cell in cells)]
        width = max(map(len, rows), default=0)
        if len(rows) < 2 or not 2 <= width <= _MAX_COLUMNS or -1 in held:
            return False
        cells = [[self._cell(held.get(cell, [])) for cell in row] for row in rows]
        full = _full_columns(cells, width)
        full.insert(1, ["---"] * len(full[0]))
        lines = [_table_row(row) for row in full]
        place = placed[0][1]
        self._put(place, "\n".join(lines), "")
        self._last = place
        return True

    def _cells(self, table: int) -> list[list[int]]:
        """The cells of each row, empty ones too; none for a table around another."""
        tags, parents = self._boxes.tags, self._boxes.parents
        rows: dict[int, list[int]] = {}
        for number in range(table + 1, len(tags)):
            if parents[number] < table:
                break
            if tags[number] == "table":
                return []
            if tags[number] in ("td", "th"):
                rows.setdefault(parents[number], []).append(number)
        return list(rows.values())

    def _cell(self, numbers: Sequence[int]) -> str:
        return " ".join(self._rendered(number).replace("\n", " ") for number in numbers)


def _full_columns(rows: Sequence[list[str]], width: int) -> list[list[str]]:
    """Rows of one length, without the columns that are empty in all of them."""
    padded = [row + [""] * (width - len(row)) for row in rows]
    full = [any(row[column] for row in padded) for column in range(width)]
    return [list(compress(row, full)) for row in padded]


def _table_row(cells: Iterable[str]) -> str:
    inner = " | ".join(cell.replace("|", "\\|") for cell in cells)
    return f"| {inner} |"


def _fenced(text: str) -> str:
    fence = fence_for(text, 3)
    return f"{fence}\n{text}\n{fence}"
