"""Dates, headlines, authors and contacts, as `bench.facts` scores them, beside htmldate for dates."""

from __future__ import annotations

import importlib
import importlib.util
from functools import partial

import phonenumbers
from bench.facts import SETS, SLICES, Case, Figures, load_cases, read
from bench.truth.report import Cell, Section, Table

from messor.content.memory import Memory
from messor.web.html import parse_document

_TITLES = {
    "dates": "Dates of publication (htmldate)",
    "wcxb": "Headlines, authors and dates (WCXB)",
    "contacts": "Contacts (webstruct)",
}


def measure(name: str) -> Section | None:
    """Score the facts of one corpus."""
    listing, score = SETS[name]
    cases, memory = list(load_cases(listing)), Memory()
    if not cases:
        return None
    figures = score([(case, read(case, memory)) for case in cases])
    rows = [
        _row("messor", field, slice_, found)
        for field, found in figures.items()
        for slice_ in SLICES
    ]
    if name == "dates" and importlib.util.find_spec("htmldate"):
        peer = _htmldate(cases)
        rows.extend(_row("htmldate", "published", slice_, peer) for slice_ in SLICES)
    if name == "contacts":
        peer = _matcher(cases)
        rows.extend(_row("phonenumbers", "phone, fax", slice_, peer) for slice_ in SLICES)
    return Section(
        _TITLES[name],
        "Each value counts against what people stated; organisation and hours count by page. The"
        " held-back third is chosen by a hash of the page's id, of its host for contacts.",
        Table(("reader", "field", "slice", "stated", "precision", "recall", "F1"), tuple(rows)),
        Table(("field", "pages with misses"), tuple((each, len(found.misses)) for each, found in figures.items())),
    )  # fmt: skip


def _row(reader: str, field: str, slice_: str, found: Figures) -> tuple[Cell, ...]:
    tally = found.tallies[slice_]
    stated = tally.right + tally.missing
    return reader, field, slice_, stated, tally.precision, tally.recall, tally.f1


def _htmldate(cases: list[Case]) -> Figures:
    find_date = importlib.import_module("htmldate").find_date
    figures = Figures()
    for case in cases:
        stated = case.stated["date"] if isinstance(case.stated["date"], str) else ""
        found = find_date(case.html, url=case.url, original_date=True) or ""
        figures.count(case, stated, found, right=bool(found) and found == stated[:10])
    return figures


def _matcher(cases: list[Case]) -> Figures:
    """Find numbers in the whole text of pages, as numbers of the United States unless they say otherwise."""
    figures = Figures()
    for case in cases:
        text = parse_document(case.html).text
        given = {match.raw_string for match in phonenumbers.PhoneNumberMatcher(text, "US")}
        marked = case.stated["entities"]
        if marked.keys() != {"HOURS"}:
            stated = {*marked.get("TEL", ()), *marked.get("FAX", ())}
            figures.count_numbers(case, stated, given)
    return figures


CASES = {f"facts-{name}": partial(measure, name) for name in SETS}
