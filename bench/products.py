"""How well and how fast products are found, on the external pages beside the checkout.

Run as `python -m bench.products`. The first product record of a page counts: its price within half
a cent, its numbers and brand by their letters and digits. Nearly everything is in stock, so both
states of stock have an F1 of their own and their mean is the figure. Time is CPU time, the best of
some rounds; site-specific parsers are off. Articles are read as well: none of them is a product.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from messor.content.memory import Memory
from messor.content.page import ParsedPage
from messor.content.products import read_products
from messor.content.records import Record

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"
CENT = 0.005
STATES = {"in_stock": "InStock", "out_of_stock": "OutOfStock"}

_not_word = re.compile(r"\W+")


@dataclass(frozen=True)
class Case:
    """A page and, by field, the values people would accept."""

    url: str
    html: str
    accepted: dict[str, list[str]]


@dataclass
class Tally:
    """Right, wrong and missing answers."""

    right: int = 0
    wrong: int = 0
    missing: int = 0

    def count(self, *, answered: bool, expected: bool, right: bool) -> None:
        self.right += right
        self.wrong += answered and not right
        self.missing += expected and not right

    @property
    def precision(self) -> float:
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        return self.right / max(1, self.right + self.missing)

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


@dataclass
class Scores:
    """Tallies by field; availability by its states."""

    tallies: dict[str, Tally] = field(default_factory=dict)

    def tally(self, name: str) -> Tally:
        return self.tallies.setdefault(name, Tally())

    @property
    def availability(self) -> float:
        return sum(self.tally(state).f1 for state in STATES) / len(STATES)


def load_cases(name: str = "products", corpora: Path = CORPORA) -> list[Case]:
    """The pages of a corpus; none where it is not here."""
    listing = corpora / f"{name}_zyte.json"
    if not listing.exists():
        return []
    return [
        Case(row["url"], _text(corpora / row["html_gz"]), row)
        for row in json.loads(listing.read_bytes())
    ]


def _text(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode("utf-8", "replace")


def product_of(records: Sequence[Record]) -> Record | None:
    """The first product among records."""
    return next((record for record in records if record.kind == "product"), None)


def score(answers: Sequence[tuple[Case, Record | None]]) -> Scores:
    """How products found compare with what people accept."""
    scores = Scores()
    for case, record in answers:
        for name, same in _SAME.items():
            value = record.value(name) if record is not None else None
            accepted = case.accepted[name]
            right = value is not None and any(same(value, text) for text in accepted)
            scores.tally(name).count(
                answered=value is not None, expected=bool(accepted), right=right
            )
        state = record.value("availability") if record is not None else None
        for ours, theirs in STATES.items():
            expected = theirs in case.accepted["availability"]
            scores.tally(ours).count(
                answered=state == ours, expected=expected, right=state == ours and expected
            )
    return scores


def _same_price(value: Any, text: str) -> bool:
    return abs(float(value) - float(text)) <= CENT


def _same_word(value: Any, text: str) -> bool:
    return _plain(value) == _plain(text)


def _plain(value: Any) -> str:
    return _not_word.sub("", str(value)).casefold()


_SAME: dict[str, Callable[[Any, str], bool]] = {
    "price": _same_price,
    "sku": _same_word,
    "brand": _same_word,
    "gtin": _same_word,
}


def _measure(cases: Sequence[Case], rounds: int) -> tuple[float, float]:
    """CPU milliseconds a page: to parse it, to read its product."""
    parsing, reading, memory = [], [], Memory()
    for _ in range(rounds):
        started = time.process_time()
        pages = [ParsedPage.read(case.html, case.url, memory=memory) for case in cases]
        parsed = time.process_time()
        for page in pages:
            read_products(page)
        parsing.append(parsed - started)
        reading.append(time.process_time() - parsed)
    return 1000 * min(parsing) / len(cases), 1000 * min(reading) / len(cases)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(arguments)
    cases, articles = load_cases(), load_cases("articles")
    if not cases:
        print("The external cases (products_zyte.json) are not here.")
        return
    found = score([(c, product_of(read_products(ParsedPage.read(c.html, c.url)))) for c in cases])
    print(f"{'field':14}{'precision':>10}{'recall':>8}{'F1':>8}")
    for name, tally in found.tallies.items():
        print(f"{name:14}{tally.precision:10.3f}{tally.recall:8.3f}{tally.f1:8.3f}")
    print(f"{'availability':14}{'mean of the two states':>18}{found.availability:8.3f}")
    taken = sum(bool(read_products(ParsedPage.read(a.html, a.url))) for a in articles)
    print(f"articles taken for products: {taken} of {len(articles)}")
    for name, pages in (("products", cases), ("articles", articles)):
        parsing, reading = _measure(pages, options.rounds)
        size = sum(len(page.html) for page in pages) / len(pages) / 1000
        print(f"{name}: {size:.0f} kB a page, parsed in {parsing:.1f} ms, read in {reading:.1f} ms")


if __name__ == "__main__":
    main()
