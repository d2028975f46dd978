"""The paced section: how much of what politeness allows one process brings, from the web's log.

Every host may be asked once per delay, so hosts ÷ delay is what there is to be had. The window is
longer than a visit: each lane is given back and claimed again within it.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise

from bench.measure import peak_rss, prefer
from bench.results import Bar, Section
from bench.stage import READY_SECONDS, Contender, Result, Stage, child, expect, tell

from simweb.conditions import Conditions
from simweb.process import WorldProcess
from simweb.requestlog import LoggedRequest

DELAY = 1.0
HOSTS = 400
STALLING = 50
MORE_HOSTS = (600, 800, 1000)
CONCURRENCY = 1280  # a visit for every lane
WARM_SECONDS = 60.0  # until all sitemaps are read, which all hosts have their turn for at once
WINDOW_SECONDS = 60.0
SPARE_PAGES = 15  # what a fast start takes, and the slow end of the log
WHOLE = 0.98
_SOUND = "bench-"  # how the names of hosts that answer begin


def run(
    dsn: str, postmaster: int, hosts: int, stalling: int, concurrency: int = CONCURRENCY
) -> Result:
    """One paced crawl; what the window saw."""
    pages = int((WARM_SECONDS + WINDOW_SECONDS) / DELAY) + SPARE_PAGES
    conditions = Conditions(stalling=stalling)
    contender = Contender("paced", "bench.messor_paced", [str(DELAY), str(concurrency)], "schema")
    with WorldProcess("bench", hosts=hosts, pages=pages, conditions=conditions) as web:
        prefer(web.pid)
        stage = Stage(web, dsn, postmaster, per_host=1)
        with stage.ground("schema") as ground, child(contender.module) as process:
            tell(process, stage.job(contender, ground).to_json())
            expect(process, READY_SECONDS)
            tell(process, "go")
            time.sleep(WARM_SECONDS)
            before = stage.read(process.pid)
            time.sleep(WINDOW_SECONDS)
            after = stage.read(process.pid)
            peak = peak_rss(process.pid)
        window = range(int(before.ended_at * 1e9), int(after.began_at * 1e9))
        seen = [asked for asked in web.requests() if asked.host.startswith(_SOUND)]
    found = [asked for asked in seen if asked.arrived_ns in window]
    allowed = hosts * len(window) / 1e9 / DELAY
    figures = {"share": len(found) / allowed, "smallest_gap": min(gaps(seen), default=0.0)}
    return before.until(after, pages=len(found), peak_rss=peak, figures=figures, stored=True)


def gaps(requests: Iterable[LoggedRequest]) -> list[float]:
    """Seconds between consecutive requests to one host."""
    arrivals: dict[str, list[int]] = defaultdict(list)
    for request in requests:
        arrivals[request.host].append(request.arrived_ns)
    return [(b - a) / 1e9 for times in arrivals.values() for a, b in pairwise(sorted(times))]


def name_of(hosts: int, stalling: int) -> str:
    return f"{hosts} hosts and {stalling} that stall" if stalling else f"{hosts} hosts"


def new_section() -> Section:
    title = (
        f"Paced: one process, a request every {DELAY:g} s to each host, "
        f"{WINDOW_SECONDS:.0f} s after {WARM_SECONDS:.0f} s of warming up"
    )
    extra = [
        ("share of what is allowed, %", lambda result: result.figures["share"] * 100, ".1f"),
        ("smallest gap s", lambda result: result.figures["smallest_gap"], ".3f"),
    ]
    return Section(title, {}, extra)


def bars(section: Section) -> list[Bar]:
    """As far as their runs were made."""

    def share(name: str) -> float:
        return 100 * section.median(name, lambda run: run.figures["share"])

    alone, beside = name_of(HOSTS, 0), name_of(HOSTS, STALLING)
    found = []
    if alone in section.runs:
        whole = 100 * WHOLE
        found.append(Bar(f"Share of the pace, {alone}", share(alone), whole, " %", at_least=True))
    if alone in section.runs and beside in section.runs:
        loss = 100 * (1 - share(beside) / share(alone))
        found.append(Bar(f"Lost to {STALLING} hosts that stall", loss, 5, " %"))
    return found
