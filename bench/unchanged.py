"""The unchanged section: what a second crawl costs of a web that stayed the same.

With validators the web answers 304; without, it sends the same bytes again. Either way nothing is
parsed, and no snapshot is stored.
"""

from __future__ import annotations

from bench.results import Bar, Section
from bench.stage import Contender, Result, Stage

from messor.world.conditions import Conditions
from messor.world.process import WorldProcess

FULL = Contender("first crawl", "bench.messor_full", database="schema")
AGAIN = Contender("second crawl", "bench.messor_again", database="schema")
FIRST = {True: "first crawl, with validators", False: "first crawl, without"}
SECOND = {True: "second crawl: 304", False: "second crawl: the same bytes"}
MOST = {True: 10, False: 25}  # percent of the first crawl's CPU


def run(
    dsn: str, postmaster: int, hosts: int, pages: int, *, per_host: int, validators: bool
) -> dict[str, Result]:
    """Both crawls of one web, over one database."""
    conditions = Conditions(validators=validators)
    with WorldProcess("bench", hosts=hosts, pages=pages, conditions=conditions) as web:
        stage = Stage(web, dsn, postmaster, per_host=per_host)
        with stage.ground("schema") as ground:
            first = stage.measure(FULL, ground)
            return {FIRST[validators]: first, SECOND[validators]: stage.measure(AGAIN, ground)}


def new_section(hosts: int, pages: int) -> Section:
    title = f"Unchanged: {hosts * pages:,} pages, {hosts} hosts, crawled twice"
    return Section(title, {})


def bars(section: Section) -> list[Bar]:
    found = []
    for validators, second in SECOND.items():
        if second not in section.runs:
            continue
        first = section.median(FIRST[validators], lambda run: run.cpu_ms)
        share = 100 * section.median(second, lambda run: run.cpu_ms) / first
        found.append(Bar(f"CPU of the {second}", share, MOST[validators], " %"))
        new = max(_kept(run) for run in section.runs[second])
        found.append(Bar(f"Rows kept by the {second}", new, 0, "", hard=True))
    return found


def _kept(result: Result) -> float:
    """New snapshots, texts and changes."""
    return sum(count for name, count in result.figures.items() if name.startswith("new_"))
