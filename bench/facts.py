"""How well dates, headlines, authors and contacts are read, on the external pages beside the checkout.

Run as `python -m bench.facts`. Each set is scored in two slices: pages that may be looked at, and a
third, chosen by a hash of the page's id, that is only scored. `--misses NAME` lists what was missed
on the former.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.products import Tally

from messor.content.memory import Memory
from messor.parsers.page_reading import PageExtraction, read_records

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"
SLICES = ("seen", "held back")
_KINDS = frozenset(("contact", "organisation", "opening_hours"))
_PRECISE = 0.90
_not_word = re.compile(r"[\W_]+")
_words = re.compile(r"[^\W_]+").findall
# What people marked, and the field of records that holds it.
MARKED = {
    "TEL": "phone",
    "FAX": "fax",
    "STREET": "street",
    "ZIPCODE": "postal_code",
    "CITY": "locality",
    "STATE": "region",
    "EMAIL": "email",
}
_NUMBERS = frozenset(("phone", "fax"))
_COUNTED_BY_ADDRESS = frozenset(("locality", "region"))
_EXTENSION = re.compile(r"[\s,]*\b(?:extension|ext|x)[\s.:]*\d", re.IGNORECASE)
_MIN_DIGITS = 7
_KEYS = str.maketrans("abcdefghijklmnopqrstuvwxyz", "22233344455566677778889999")


@dataclass(frozen=True)
class Case:
    """A page of a corpus with what people stated about it."""

    name: str
    url: str
    html: str
    stated: dict[str, Any]

    @property
    def key(self) -> str:
        """What the slice is chosen by: pages of contacts repeat those of their site."""
        return urlsplit(self.url).hostname or "" if "entities" in self.stated else self.name

    @property
    def slice(self) -> str:
        return SLICES[is_held_back(self.key)]


@dataclass
class Figures:
    """Tallies by slice, and what was missed on pages that may be looked at."""

    tallies: dict[str, Tally] = field(default_factory=lambda: {each: Tally() for each in SLICES})
    misses: list[str] = field(default_factory=list)

    def count(self, case: Case, expected: Any, found: Any, *, right: bool) -> None:
        self.tallies[case.slice].count(answered=bool(found), expected=bool(expected), right=right)
        if not right and (expected or found) and case.slice == SLICES[0]:
            self.misses.append(f"{case.name}\t{case.url}\t{expected!r}\t{found!r}")

    def count_numbers(self, case: Case, stated: set[str], given: set[str]) -> None:
        """Count numbers by their last digits."""
        wanted, found = (
            {_number(each): each for each in texts if _number(each)} for texts in (stated, given)
        )
        _count_values(self, case, wanted, found, None)


def is_held_back(name: str) -> bool:
    """Whether a page belongs to the third that is scored and never looked at."""
    return hashlib.sha256(f"held {name}".encode()).digest()[0] % 3 == 0


def load_cases(listing: str, corpora: Path = CORPORA) -> Iterator[Case]:
    """Yield the pages of a corpus; none if it is not here."""
    path = corpora / f"{listing}.json"
    for row in json.loads(path.read_bytes()) if path.exists() else ():
        html = gzip.decompress((corpora / row["html_gz"]).read_bytes()).decode("utf-8", "replace")
        yield Case(row["id"], row["url"], html, row)


def read(case: Case, memory: Memory) -> PageExtraction:
    return read_records(case.html, case.url, generic=True, memory=memory, kinds=_KINDS)


def score_dates(readings: Iterable[tuple[Case, PageExtraction]], key: str) -> dict[str, Figures]:
    """Score `published` by its first ten characters."""
    figures = Figures()
    for case, found in readings:
        stated = case.stated[key] if isinstance(case.stated[key], str) else ""
        value = (found.metadata.published or "")[:10]
        figures.count(case, stated[:10], value, right=bool(value) and value == stated[:10])
    return {"published": figures}


def score_bylines(readings: Iterable[tuple[Case, PageExtraction]]) -> dict[str, Figures]:
    """Score headline and authors by their words; every marked author counts."""
    headlines, authors = Figures(), Figures()
    for case, found in readings:
        title, headline = case.stated["title"] or "", getattr(found.metadata, "headline", "")
        headlines.count(
            case, title, headline, right=bool(headline) and plain(headline) == plain(title)
        )
        wanted, names = case.stated["author"] or "", found.metadata.authors
        authors.count(case, wanted, names, right=bool(names) and _same_people(wanted, names))
    return {"headline": headlines, "authors": authors}


def _same_people(wanted: str, names: Sequence[str]) -> bool:
    """Whether two bylines name the same words, whatever stands between them."""
    return Counter(_words(" ".join(names).casefold())) - _JOINTS == (
        Counter(_words(wanted.casefold())) - _JOINTS
    )


_JOINTS = Counter({"and": 9, "und": 9, "et": 9, "y": 9, "by": 9})


def score_contacts(readings: Iterable[tuple[Case, PageExtraction]]) -> dict[str, Figures]:
    """Score what records hold against what people marked, value by value."""
    figures: dict[str, Figures] = {
        name: Figures() for name in (*MARKED.values(), "organisation", "hours")
    }
    for case, found in readings:
        entities = case.stated["entities"]
        # On Dutch pages, hours alone were marked.
        for mark, name in MARKED.items() if entities.keys() != {"HOURS"} else ():
            key = _number if name in _NUMBERS else plain
            wanted = {key(text): text for text in entities.get(mark, ()) if key(text)}
            given = {key(text): text for text in values(found, name) if key(text)}
            _count_values(figures[name], case, wanted, given, _limit(name, entities))
        if entities.keys() != {"HOURS"}:
            _count_organisation(figures["organisation"], case, found)
        opened = [record for record in found.records if record.kind == "opening_hours"]
        hours = entities.get("HOURS")
        figures["hours"].count(
            case, hours, [_shown(each) for each in opened], right=bool(opened and hours)
        )
    return figures


def _count_organisation(figures: Figures, case: Case, found: PageExtraction) -> None:
    """Count pages on which an organisation's name is one that people marked."""
    marked = case.stated["entities"].get("ORG", ())
    names = values(found, "organisation")
    right = not {plain(name) for name in names}.isdisjoint(plain(name) for name in marked)
    figures.count(case, marked, names, right=right)


def _shown(record: Any) -> dict[str, Any]:
    return {name: each.value for name, each in record.fields.items()}


def _limit(name: str, entities: dict[str, list[str]]) -> int | None:
    """City and state count up to the number of streets or postal codes on the page."""
    if name not in _COUNTED_BY_ADDRESS:
        return None
    return max(len(entities.get("STREET", ())), len(entities.get("ZIPCODE", ())))


def _count_values(
    figures: Figures, case: Case, wanted: dict[str, str], given: dict[str, str], limit: int | None
) -> None:
    right = sum(any(_alike(key, other) for other in wanted) for key in given)
    hit = sum(any(_alike(key, other) for other in given) for key in wanted)
    due = len(wanted) if limit is None else min(len(wanted), limit)
    tally = figures.tallies[case.slice]
    tally.right += min(hit, due)
    tally.missing += max(0, due - hit)
    tally.wrong += len(given) - right
    if case.slice == SLICES[0] and (hit < due or right < len(given)):
        lost = [text for key, text in wanted.items() if not any(_alike(key, o) for o in given)]
        wrong = [text for key, text in given.items() if not any(_alike(key, o) for o in wanted)]
        figures.misses.append(
            f"{case.name}\t{case.url}\tlost {lost if hit < due else []!r}\twrong {wrong!r}"
        )


def _alike(one: str, other: str) -> bool:
    return one == other


def values(found: PageExtraction, name: str) -> list[str]:
    """Return the values of a field in contacts and organisations."""
    if name == "organisation":
        return [str(each.value("name")) for each in found.records if each.kind == "organisation"]
    kinds = ("contact", "organisation")
    stated = [each.value(name) for each in found.records if each.kind in kinds]
    return [str(value) for value in stated if value]


def plain(text: str) -> str:
    """Return the letters and digits of a text in lower case."""
    return _not_word.sub("", text).casefold()


def _number(text: str) -> str:
    """Return the last nine digits of a number; extensions alone are none."""
    number = _EXTENSION.split(text)[0]
    digits = re.sub(r"\D", "", number.lower().translate(_KEYS))
    return digits[-9:] if len(digits) >= _MIN_DIGITS else ""


def _print(name: str, figures: dict[str, Figures]) -> None:
    for each, found in figures.items():
        row = f"{name:10}{each:14}"
        for tally in found.tallies.values():
            cut = min(1.0, tally.precision / _PRECISE)
            row += f"  P {tally.precision:.3f} R {tally.recall:.3f} F1 {tally.f1:.3f} cut {tally.recall * cut:.3f} n {tally.right + tally.missing:4} |"
        print(row)


SETS: dict[str, tuple[str, Callable[[list[tuple[Case, PageExtraction]]], dict[str, Figures]]]] = {
    "dates": ("dates", lambda readings: score_dates(readings, "date")),
    "wcxb": (
        "wcxb",
        lambda readings: score_dates(readings, "publish_date") | score_bylines(readings),
    ),
    "contacts": ("contacts", score_contacts),
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--set", choices=SETS, action="append")
    parser.add_argument("--misses", help="list what was missed of a field")
    parser.add_argument("--seen", action="store_true", help="leave the held-back slice out")
    options = parser.parse_args(arguments)
    for name in options.set or SETS:
        listing, score = SETS[name]
        memory = Memory()
        cases = [
            case for case in load_cases(listing) if not (options.seen and is_held_back(case.key))
        ]
        if not cases:
            print(f"Skipped: {listing}.json is not at {CORPORA}.", file=sys.stderr)
            continue
        figures = score([(case, read(case, memory)) for case in cases])
        _print(name, figures)
        for line in figures[options.misses].misses if options.misses in figures else ():
            print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
