"""The unchanged section: what a second crawl costs of a web that stayed the same.

With validators the web answers 304; without, it sends the same bytes again. Either way nothing is
parsed, and no snapshot is stored. A first crawl is measured twice: the path of a page alone, and as
Messor runs unless told otherwise, with all that extraction makes of every page.
"""

from __future__ import annotations

from dataclasses import dataclass

from bench.results import Bar, Section
from bench.stage import Contender, Result, Stage

from simweb.conditions import Conditions
from simweb.process import WorldProcess

FULL = Contender("first crawl", "bench.messor_full", database="schema")
EXTRACTED = Contender("first crawl with extraction", "bench.messor_records", database="schema")
AGAIN = Contender("second crawl", "bench.messor_again", database="schema")


@dataclass(frozen=True)
class Pair:
    """Two crawls of one web, and the names they go by in the table."""

    contender: Contender  # of the first
    validators: bool
    first: str
    second: str
    most: float  # that the second may cost of the first, in percent of its CPU


NOT_MODIFIED = Pair(FULL, True, "first crawl, with validators", "second crawl: 304", 10)
SAME_BYTES = Pair(FULL, False, "first crawl, without", "second crawl: the same bytes", 25)
PRODUCT = Pair(
    EXTRACTED, True, "first crawl with extraction", "second crawl after extraction: 304", 10
)
PAIRS = (NOT_MODIFIED, SAME_BYTES, PRODUCT)


def run(
    dsn: str, postmaster: int, hosts: int, pages: int, *, per_host: int, pair: Pair
) -> dict[str, Result]:
    """Both crawls of one web, over one database."""
    conditions = Conditions(validators=pair.validators)
    with WorldProcess("bench", hosts=hosts, pages=pages, conditions=conditions) as web:
        stage = Stage(web, dsn, postmaster, per_host=per_host)
        with stage.ground("schema") as ground:
            first = stage.measure(pair.contender, ground)
            return {pair.first: first, pair.second: stage.measure(AGAIN, ground)}


def new_section(hosts: int, pages: int) -> Section:
    title = f"Unchanged: {hosts * pages:,} pages, {hosts} hosts, crawled twice"
    return Section(title, {})


def bars(section: Section) -> list[Bar]:
    found = []
    for pair in PAIRS:
        if pair.second not in section.runs:
            continue
        what = f"CPU of the {pair.second} against the {pair.first}"
        found.append(Bar(what, _share(section, pair.second, pair.first), pair.most, " %"))
        new = max(_kept(run) for run in section.runs[pair.second])
        found.append(Bar(f"Rows kept by the {pair.second}", new, 0, "", hard=True))
    if SAME_BYTES.second in section.runs and PRODUCT.first in section.runs:
        what = f"CPU of the {SAME_BYTES.second} against the {PRODUCT.first}"
        share = _share(section, SAME_BYTES.second, PRODUCT.first)
        found.append(Bar(what, share, SAME_BYTES.most, " %"))
    return found


def _share(section: Section, second: str, first: str) -> float:
    """The CPU of one in percent of the other's."""
    return 100 * section.median(second, _cpu) / section.median(first, _cpu)


def _cpu(result: Result) -> float:
    return result.cpu_ms


def _kept(result: Result) -> float:
    """New snapshots, texts and changes."""
    return sum(count for name, count in result.figures.items() if name.startswith("new_"))
