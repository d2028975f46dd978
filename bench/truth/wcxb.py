"""Main content by page type, on WCXB: bags of lower-cased words against the text that people marked."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import partial
from statistics import mean
from typing import Any

from bench.truth.corpora import SEEN, SLICES, by_slice, load_html, load_rows, slice_of
from bench.truth.readers import read_all, readers
from bench.truth.report import Cell, Section, Table

TYPES = ("article", "documentation", "service", "forum", "product", "listing", "collection")
_GOOD = 0.75
_words = re.compile(r"\w+").findall
_spaced = partial(re.compile(r"\s+").sub, " ")


@dataclass(frozen=True)
class Score:
    """How one page's text compares with what people marked."""

    type: str
    f1: float
    precision: float
    recall: float
    with_: float  # share of the snippets that must be there
    without: float  # share of the snippets that must not be there, and are not


def load_pages() -> list[tuple[str, dict[str, Any], str]]:
    """Return slice, case and HTML of every page."""
    return [(slice_of(row["url"]), row, load_html(row)) for row in load_rows("wcxb.json")]


def bag(text: str) -> Counter[str]:
    return Counter(_words(text.lower()))


def overlap(wanted: Counter[str], given: Counter[str]) -> tuple[float, float, float]:
    """Return F1, precision and recall."""
    common = (wanted & given).total()
    if not common:
        same = 1.0 if not wanted and not given else 0.0
        return same, same, same
    precision, recall = common / given.total(), common / wanted.total()
    return 2 * precision * recall / (precision + recall), precision, recall


def score_page(row: dict[str, Any], text: str) -> Score:
    """Return the score of the text found for a case."""
    found = _spaced(text).lower()
    present = [_spaced(each).lower() in found for each in row["with"]]
    absent = [_spaced(each).lower() not in found for each in row["without"]]
    return Score(
        row["page_type"],
        *overlap(bag(row["main_content"]), bag(text)),
        mean(present or [True]),
        mean(absent or [True]),
    )


def measure() -> Section | None:
    """Score every reader on all pages."""
    pages = load_pages()
    if not pages:
        return None
    rows: list[tuple[Cell, ...]] = []
    misses = None
    for name, reader in readers().items():
        texts, timed = read_all(reader, [(html, row["url"]) for _, row, html in pages])
        scored = by_slice(
            (slice_, score_page(row, text))
            for (slice_, row, _), text in zip(pages, texts, strict=True)
        )
        rows.extend(_figures(name, slice_, scored[slice_], timed) for slice_ in SLICES)
        misses = misses or _misses(scored[SEEN])
    return Section(
        "Main content by page type (WCXB)",
        "F1 over the bags of lower-cased words of `main_text` and of the text that people marked,"
        " mean over pages; *with* and *without* are shares of the snippets that must and must not"
        " be there; CPU from the HTML on.",
        Table(
            ("reader", "slice", "pages", "F1", *TYPES, "with", "without", "CPU ms / 100 KB"),
            tuple(rows),
        ),
        misses,
    )


def _figures(name: str, slice_: str, scores: list[Score], timed: float) -> tuple[Cell, ...]:
    by_type = defaultdict(list)
    for each in scores:
        by_type[each.type].append(each.f1)
    return (
        name,
        slice_,
        len(scores),
        mean(each.f1 for each in scores),
        *(mean(by_type[type_]) if by_type[type_] else None for type_ in TYPES),
        mean(each.with_ for each in scores),
        mean(each.without for each in scores),
        round(timed, 2),
    )


def _misses(scores: list[Score]) -> Table:
    """Count bad pages by what is wrong with them."""
    columns = ("type", "pages", "content lost", "boilerplate kept", "both")
    rows = []
    for type_ in TYPES:
        own = [each for each in scores if each.type == type_]
        low = [(each.precision < _GOOD, each.recall < _GOOD) for each in own]
        counts = Counter(low)
        rows.append((type_, len(own), counts[False, True], counts[True, False], counts[True, True]))
    return Table(columns, tuple(rows))
