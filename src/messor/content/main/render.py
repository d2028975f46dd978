"""Renders kept blocks as plain text and markdown: headings, lists, quotes, code and tables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, compress, groupby, zip_longest
from typing import Final

from messor.content.main.blocks import KINDS, Blocks, Layout
from messor.content.main.code_language import language_of
from messor.content.main.footnotes import is_note as is_footnote
from messor.content.main.inline import GUARDED, Inline, fence_for
from messor.content.main.pictures import Picture, pictures

_LEVELS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
# Prefixes of plain text blocks, except terms, their meanings and preformatted text.
_STARTS = {
    **dict.fromkeys(KINDS - {"dt", "dd", "pre"}, ""),
    **{kind: "#" * level + " " for kind, level in _LEVELS.items()},
}
_LISTS = frozenset(("ul", "ol", "menu", "dir"))
_CELLS = ("td", "th")
_PLACED = _LISTS.union(_CELLS, ("li", "blockquote", "table", "tr"))
# A cell with more text than this marks a layout table.
_MAX_CELL = 400
_MAX_COLUMNS = 30
_MAX_DEPTH = 6
_BAR = "\\|"  # inside a cell


# The context of a box: quotes and lists around it, then box numbers, -1 for none. A plain tuple,
# because one is created for every row and cell and checked for every block.
_Place = tuple[int, int, int, int, int, int, int]
_QUOTES: Final = 0
_DEPTH: Final = 1
_LIST: Final = 2
_ITEM: Final = 3
_TABLE: Final = 4
_ROW: Final = 5
_CELL: Final = 6
_OUTSIDE: _Place = (0, 0, -1, -1, -1, -1, -1)
_Placed = tuple[int, _Place]  # a block's number and context


def _places(layout: Layout, wanted: Sequence[int]) -> list[_Place]:
    """Return the contexts of boxes up to the last wanted one; others may be missing."""
    tags, parents = layout.boxes.tags, layout.boxes.parents
    first, last = min(wanted), max(wanted)
    around = []
    number = first
    while number >= 0:
        around.append(number)
        number = parents[number]
    # The page's parent is -1, which is the last entry here.
    found = [_OUTSIDE] * (last + 2)
    # Each box in between is inside another of them or inside an ancestor of the first.
    for number in chain(reversed(around), range(first + 1, last + 1)):
        tag = tags[number]
        place = found[parents[number]]
        found[number] = place if tag not in _PLACED else _placed(place, tag, number)
    return found


def _placed(place: _Place, tag: str, number: int) -> _Place:
    quotes, depth, list_, item, table, row, _ = place
    if tag in _CELLS:
        return quotes, depth, list_, item, table, row, number
    if tag == "tr":
        return quotes, depth, list_, item, table, number, -1
    if tag in _LISTS:
        return quotes, min(depth + 1, _MAX_DEPTH), number, -1, *place[_TABLE:]
    if tag == "li":
        return quotes, max(depth, 1), list_, number, *place[_TABLE:]
    if tag == "blockquote":
        return min(quotes + 1, _MAX_DEPTH), *place[_DEPTH:]
    return quotes, 0, -1, -1, number, -1, -1  # a table


def render(layout: Layout, kept: Sequence[int], url: str) -> tuple[str, str]:
    """Render the kept blocks as plain text and markdown; URLs are made absolute against `url`."""
    if not kept:
        return "", ""
    boxes = list(map(layout.blocks.boxes.__getitem__, kept))
    shown = list(pictures(layout, kept))
    places = _places(layout, [*boxes, *(each.box for each in shown)])
    placed = list(zip(kept, map(places.__getitem__, boxes), strict=True))
    text = _plain_text(layout.blocks, placed)
    writer = _Writer(layout, Inline(url, text), shown)
    if shown:
        placed = _with_pictures(placed, shown, places)
    tables = [place[_TABLE] for _, place in placed]
    if max(tables) < 0:
        writer.write_all(placed)
    else:
        _write_with_tables(writer, placed, tables)
    return text, writer.finish()


def _with_pictures(
    placed: Sequence[_Placed], shown: Sequence[Picture], places: Sequence[_Place]
) -> list[_Placed]:
    """Put pictures before their blocks, with negative numbers."""
    found: list[_Placed] = []
    next_ = 0
    for number, place in placed:
        while next_ < len(shown) and shown[next_].place <= number:
            found.append((~next_, places[shown[next_].box]))
            next_ += 1
        found.append((number, place))
    return found


def _plain_text(blocks: Blocks, placed: Sequence[_Placed]) -> str:
    """Join blocks, one per line; the cells of a row share one."""
    texts = blocks.texts
    lines: list[str] = []
    last = _OUTSIDE
    for number, place in placed:
        if place[_ROW] == last[_ROW] >= 0 and place[_TABLE] == last[_TABLE]:
            lines[-1] += ("\t" if place[_CELL] != last[_CELL] else " ") + texts[number]
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
    def __init__(self, layout: Layout, inline: Inline, shown: Sequence[Picture]) -> None:
        self._blocks = layout.blocks
        self._shown = shown
        self._boxes = layout.boxes
        self._inline = inline
        self._parts: list[str] = []
        self._last = _OUTSIDE
        self._kind = ""  # of the block written last
        self._numbers: dict[int, int] = {}  # number of the last item in each ordered list

    def finish(self) -> str:
        return "".join(self._parts).strip("\n")

    def write_all(self, placed: Sequence[_Placed]) -> None:
        if self._inline.escapes:
            for number, place in placed:
                self.write(number, place)
            return
        texts, kinds, markup = self._blocks.texts, self._blocks.kinds, self._blocks.markup
        for number, place in placed:
            if number < 0:
                self.write(number, place)
                continue
            start, text = _STARTS.get(kinds[number]), texts[number]
            # Most blocks are top-level text with nothing to mark or escape.
            if (
                start is not None
                and place[_ITEM] < 0
                and not place[_QUOTES]
                and number not in markup
                and "\n" not in text
                and (text[0] not in GUARDED or text.isalnum())
            ):
                self._parts += ("\n\n", start + text)
                self._last, self._kind = place, ""
            else:
                self.write(number, place)

    def write(self, number: int, place: _Place) -> None:
        kind = "" if number < 0 else self._blocks.kinds[number]
        level = _LEVELS.get(kind, 0)
        text = self._picture(~number) if number < 0 else self._text(number, kind)
        if not text:
            return
        if place[_ITEM] >= 0:
            is_note = number >= 0 and is_footnote(self._blocks.markup.get(number))
            self._write_item(place, f"**{text}**" if level else text, is_note=is_note)
        elif level:
            self._put(place, f"{'#' * level} " + text.replace("\n", " "), "")
        elif kind == "dd" and self._kind in ("dt", "dd"):
            self._put(place, f": {text}", "", close=True)
        else:
            self._put(place, text, "")
        self._last, self._kind = place, kind

    def _text(self, number: int, kind: str) -> str:
        """Return the markdown of a block's own text."""
        blocks = self._blocks
        if kind == "pre":
            box, markup = blocks.boxes[number], blocks.markup.get(number)
            return _fenced(blocks.texts[number], language_of(self._boxes, box, markup))
        text = self._rendered(number, emphasis=kind not in _LEVELS)
        return f"**{text}**" if kind == "dt" else text

    def _picture(self, number: int) -> str:
        return self._inline.picture(self._shown[number].text, self._shown[number].address)

    def _rendered(self, number: int, *, emphasis: bool = True) -> str:
        blocks = self._blocks
        return self._inline.render(
            blocks.texts[number], blocks.markup.get(number), emphasis=emphasis
        )

    def _write_item(self, place: _Place, text: str, *, is_note: bool = False) -> None:
        indent = "    " * (place[_DEPTH] - 1)
        if place[_ITEM] == self._last[_ITEM]:
            self._put(place, text, indent + "    ")
            return
        marker = self._marker(place)
        if is_note and marker[0].isdigit():
            marker = f"[^{marker[:-2]}]: "
        lines = text.split("\n")
        first = f"{indent}{marker}{lines[0]}"
        body = "\n".join([first, *(f"{indent}    {line}" for line in lines[1:])])
        self._put(place, body, "", close=self._last[_ITEM] >= 0)

    def _marker(self, place: _Place) -> str:
        list_ = place[_LIST]
        if list_ >= 0 and self._boxes.tags[list_] == "ol":
            last = self._numbers.get(list_)
            number = self._boxes.numbers.get(list_, 1) if last is None else last + 1
            self._numbers[list_] = number
            return f"{number}. "
        return "- "

    def _put(self, place: _Place, text: str, indent: str, *, close: bool = False) -> None:
        quotes = place[_QUOTES]
        if quotes or indent or "\n" in text:
            start = "> " * quotes + indent
            text = "\n".join([f"{start}{line}".rstrip() for line in text.split("\n")])
        parting = "\n" if close else "\n\n"
        if quotes and not close:
            # A continued quote is one quote: its paragraphs are separated inside it.
            shared = "> " * min(quotes, self._last[_QUOTES])
            parting = f"\n{shared.rstrip()}\n"
        self._parts += (parting, text)

    def write_table(self, table: int, placed: Sequence[_Placed]) -> bool:
        """Write a data table after its caption; False for a layout table."""
        before = 0  # blocks of the caption
        while before < len(placed) and placed[before][1][_CELL] < 0:
            before += 1
        held: dict[int, list[int]] = {}
        for number, place in placed[before:]:
            cell = place[_CELL]
            if cell < 0:
                return False
            held.setdefault(cell, []).append(number)
        if not self._are_short(held):
            return False
        whole = self._cells(table)
        is_kept = [not held.keys().isdisjoint(cells) for cells in whole]
        rows = list(compress(whole, is_kept))
        width = max(map(len, rows), default=0)
        if len(rows) < 2 or not 2 <= width <= _MAX_COLUMNS:
            return False
        texts = self._texts(held)
        spans = self._boxes.spans
        if spans and not spans.keys().isdisjoint(chain.from_iterable(whole)):
            full = _full_columns(list(compress(_laid_out(whole, texts, spans), is_kept)))
        else:
            full = _full_columns([[texts.get(cell, "") for cell in row] for row in rows])
        full.insert(1, ("---",) * len(full[0]))
        lines = list(map(_table_row, full))
        self.write_all(placed[:before])
        place = placed[-1][1]
        self._put(place, "\n".join(lines), "")
        self._last = place
        return True

    def _are_short(self, held: dict[int, list[int]]) -> bool:
        """Whether no cell is so long that this is a layout table."""
        size_of = self._blocks.sizes.__getitem__
        if sum(map(size_of, chain.from_iterable(held.values()))) <= _MAX_CELL:
            return True  # all of them together are short
        return all(sum(map(size_of, numbers)) <= _MAX_CELL for numbers in held.values())

    def _cells(self, table: int) -> list[list[int]]:
        """Return the cells of each row, including empty ones; none for a table around another."""
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

    def _texts(self, held: dict[int, list[int]]) -> dict[int, str]:
        """Return the markdown of each cell from its blocks."""
        texts, markup = self._blocks.texts, self._blocks.markup
        escapes = self._inline.escapes
        found: dict[int, str] = {}
        for cell, numbers in held.items():
            text = texts[numbers[0]]
            # Most hold one text that needs no rendering.
            if (
                escapes
                or len(numbers) > 1
                or numbers[0] in markup
                or not (text.isalnum() or (text[0] not in GUARDED and "\n" not in text))
            ):
                text = " ".join(map(self._rendered, numbers)).replace("\n", " ")
            found[cell] = text
        return found


def _laid_out(
    rows: Sequence[Sequence[int]], texts: dict[int, str], spans: dict[int, tuple[int, int]]
) -> list[list[str]]:
    """Lay out cell texts in columns: row spans repeat their text in each row, column spans do not."""
    found: list[list[str]] = []
    down: dict[int, tuple[int, str]] = {}  # by column: remaining rows and text
    for row in rows:
        line: list[str] = []
        for cell in (*row, None):
            while len(line) in down:
                left, text = down.pop(len(line))
                if left > 1:
                    down[len(line)] = left - 1, text
                line.append(text)
            if cell is None:
                break
            height, width = spans.get(cell, (1, 1))
            for place in range(max(1, min(width, _MAX_COLUMNS - len(line)))):
                text = "" if place else texts.get(cell, "")
                if height > 1:
                    down[len(line)] = height - 1, text
                line.append(text)
        found.append(line)
    return found


def _full_columns(rows: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return rows of equal length, without columns that are empty in all of them."""
    full = list(filter(any, zip_longest(*rows, fillvalue="")))
    return list(zip(*full, strict=True)) or [()] * len(rows)


def _table_row(cells: Sequence[str]) -> str:
    if "|" in "".join(cells):
        cells = [cell.replace("|", _BAR) for cell in cells]
    return f"| {' | '.join(cells)} |"


def _fenced(text: str, language: str) -> str:
    fence = fence_for(text, 3)
    return f"{fence}{language}\n{text}\n{fence}"
