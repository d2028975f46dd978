"""Kept blocks as plain text and as markdown: headings, lists, quotes, code and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, groupby, takewhile, zip_longest
from typing import NamedTuple

from messor.extract.main.blocks import KINDS, Blocks, Layout
from messor.extract.main.inline import GUARDED, Inline, fence_for

_LEVELS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
# How those begin that are text alone, but for terms and what is preformatted.
_STARTS = {
    **dict.fromkeys(KINDS - {"dt", "pre"}, ""),
    **{kind: "#" * level + " " for kind, level in _LEVELS.items()},
}
_LISTS = frozenset(("ul", "ol", "menu", "dir"))
_CELLS = ("td", "th")
_PLACED = _LISTS.union(_CELLS, ("li", "blockquote", "table", "tr"))
# A cell with more than this makes a table a means of layout.
_MAX_CELL = 400
_MAX_COLUMNS = 30
_MAX_DEPTH = 6
_BAR = "\\|"  # within a cell


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
_new: Callable[[type[_Place], tuple[int, ...]], _Place] = tuple.__new__  # with no call in between
_Placed = tuple[int, _Place]  # a block's number, and where it stands


def _places(layout: Layout, wanted: Sequence[int]) -> list[_Place]:
    """Where boxes stand, up to the last that is wanted; of others they may not be found."""
    tags, parents = layout.boxes.tags, layout.boxes.parents
    first, last = min(wanted), max(wanted)
    around = []
    number = first
    while number >= 0:
        around.append(number)
        number = parents[number]
    # The page itself has -1 for a parent, which is the one at the end here.
    found = [_OUTSIDE] * (last + 2)
    # Of those between, each is within another of them or within one that is around the first.
    for number in chain(reversed(around), range(first + 1, last + 1)):
        tag = tags[number]
        place = found[parents[number]]
        found[number] = _placed(place, tag, number) if tag in _PLACED else place
    return found


def _placed(place: _Place, tag: str, number: int) -> _Place:
    if tag in _CELLS:
        return _new(_Place, (*place[:-1], number))
    quotes, depth, list_, item, table, row, cell = place
    if tag in _LISTS:
        depth, list_, item = min(depth + 1, _MAX_DEPTH), number, -1
    elif tag == "li":
        depth, item = max(depth, 1), number
    elif tag == "blockquote":
        quotes = min(quotes + 1, _MAX_DEPTH)
    elif tag == "tr":
        row, cell = number, -1
    else:  # a table
        depth, list_, item, table, row, cell = 0, -1, -1, number, -1, -1
    return _new(_Place, (quotes, depth, list_, item, table, row, cell))


def render(layout: Layout, kept: Sequence[int], url: str) -> tuple[str, str]:
    """The kept blocks as plain text and as markdown; addresses are made absolute against `url`."""
    if not kept:
        return "", ""
    boxes = list(map(layout.blocks.boxes.__getitem__, kept))
    placed = list(zip(kept, map(_places(layout, boxes).__getitem__, boxes), strict=True))
    text = _plain_text(layout.blocks, placed)
    writer = _Writer(layout, Inline(url, text))
    tables = [place.table for _, place in placed]
    if max(tables) < 0:
        writer.write_all(placed)
    else:
        _write_with_tables(writer, placed, tables)
    return text, writer.finish()


def _plain_text(blocks: Blocks, placed: Sequence[_Placed]) -> str:
    """One block a line; the cells of a row share one."""
    texts = blocks.texts
    lines: list[str] = []
    last = _OUTSIDE
    for number, place in placed:
        if place is not _OUTSIDE and 0 <= place.row == last.row and place.table == last.table:
            lines[-1] += ("\t" if place.cell != last.cell else " ") + texts[number]
        else:
            lines.append(texts[number])
        last = place
    return "\n".join(lines)


def _write_with_tables(writer: _Writer, placed: Sequence[_Placed], tables: Sequence[int]) -> None:
    start = 0
    for table, group in groupby(tables):
        end = start + len(list(group))
        blocks = placed[start:end]
        if table < 0 or not writer.write_table(table, blocks):
            writer.write_all(blocks)
        start = end


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

    def write_all(self, placed: Sequence[_Placed]) -> None:
        if self._inline.escapes:
            for number, place in placed:
                self.write(number, place)
            return
        texts, kinds, markup = self._blocks.texts, self._blocks.kinds, self._blocks.markup
        for number, place in placed:
            start, text = _STARTS.get(kinds[number]), texts[number]
            # Most blocks are text that stands alone and has nothing to be marked or escaped.
            if (
                start is not None
                and (place is _OUTSIDE or (place.item < 0 and not place.quotes))
                and number not in markup
                and "\n" not in text
                and (text[0] not in GUARDED or text.isalnum())
            ):
                self._parts += ("\n\n", start + text)
                self._last = place
            else:
                self.write(number, place)

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
        """Write a table that holds data, behind its caption; False for one that lays out the page."""
        caption = list(takewhile(lambda each: each[1].cell < 0, placed))
        held: dict[int, list[int]] = {}
        for number, place in placed[len(caption) :]:
            if place.cell < 0:
                return False
            held.setdefault(place.cell, []).append(number)
        size_of = self._blocks.sizes.__getitem__
        for numbers in held.values():
            if sum(map(size_of, numbers)) > _MAX_CELL:
                return False
        rows = [cells for cells in self._cells(table) if not held.keys().isdisjoint(cells)]
        width = max(map(len, rows), default=0)
        if len(rows) < 2 or not 2 <= width <= _MAX_COLUMNS:
            return False
        full = _full_columns([[self._cell(held.get(cell, ())) for cell in row] for row in rows])
        full.insert(1, ("---",) * len(full[0]))
        lines = list(map(_table_row, full))
        self.write_all(caption)
        place = placed[-1][1]
        self._put(place, "\n".join(lines), "")
        self._last = place
        return True

    def _cells(self, table: int) -> list[list[int]]:
        """The cells of each row, empty ones too; none for a table around another."""
        tags, parents = self._boxes.tags, self._boxes.parents
        rows: dict[int, list[int]] = {}
        for number in range(table + 1, len(tags)):
            parent, tag = parents[number], tags[number]
            if parent < table:
                break
            if tag in _CELLS:
                rows.setdefault(parent, []).append(number)
            elif tag == "table":
                return []
        return list(rows.values())

    def _cell(self, numbers: Sequence[int]) -> str:
        if len(numbers) == 1 and not self._inline.escapes and numbers[0] not in self._blocks.markup:
            text = self._blocks.texts[numbers[0]]
            if text.isalnum() or (text[0] not in GUARDED and "\n" not in text):
                return text  # it would come out as it is
        return " ".join(map(self._rendered, numbers)).replace("\n", " ")


def _full_columns(rows: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Rows of one length, without the columns that are empty in all of them."""
    full = list(filter(any, zip_longest(*rows, fillvalue="")))
    return list(zip(*full, strict=True)) or [()] * len(rows)


def _table_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join([cell.replace('|', _BAR) for cell in cells])} |"


def _fenced(text: str) -> str:
    fence = fence_for(text, 3)
    return f"{fence}\n{text}\n{fence}"
