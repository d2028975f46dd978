"""Whether a second worker process is worth its core: two of them, beside what their CPU time allows.

Run as `python -m bench.pair`. So many cores divided by all CPU time of a page (the workers', that of
PostgreSQL and of the simulated web) is what the machine could do; two processes must come near it.
One process alone is shown beside them. Exits 1 when the bar is broken.
"""

from __future__ import annotations

import os
import signal
import sys

import click
from bench.results import Bar, Section, machine
from bench.run import PER_HOST
from bench.stage import Contender, FailedRunError, Result, Stage, embedded_postgres

from simweb.process import WorldProcess

ONE = Contender("one process", "bench.messor_pair", ["1"], database="schema")
TWO = Contender("two processes", "bench.messor_pair", ["2"], database="schema")
LEAST = 0.85


def possible(result: Result) -> float:
    """Pages/s if all cores did nothing else, and nobody ever waited."""
    return (os.cpu_count() or 1) * 1000 / (result.cpu_ms + result.web_ms)


def share(result: Result) -> float:
    return result.pages_per_second / possible(result)


def measure(hosts: int, pages: int, rounds: int) -> Section:
    title = f"Two processes: {hosts * pages:,} pages, {hosts} hosts with {pages:,} pages each"
    extra = [
        ("web CPU ms/page", lambda result: result.web_ms, ".2f"),
        ("possible pages/s", possible, ".0f"),
        ("share of it", share, ".3f"),
    ]
    section = Section(title, {}, extra=extra)
    with (
        embedded_postgres() as (dsn, server),
        WorldProcess(profile="bench", hosts=hosts, pages=pages) as web,
    ):
        assert server.pid is not None
        stage = Stage(web, dsn, server.pid, per_host=PER_HOST)
        for _ in range(rounds):
            for contender in (ONE, TWO):
                try:
                    section.add(contender.name, stage.run(contender))
                except FailedRunError as error:
                    print(f"  {error}", file=sys.stderr, flush=True)
    return section


@click.command(help=(__doc__ or "").split("\n", maxsplit=1)[0])
@click.option("--hosts", default=80, show_default=True)
@click.option("--pages", default=100, show_default=True, help="Pages per host")
@click.option("--rounds", default=3, show_default=True)
def main(*, hosts: int, pages: int, rounds: int) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    section = measure(hosts, pages, rounds)
    print(f"{machine()}.\n")
    print(section.to_markdown())
    if TWO.name not in section.runs:
        sys.exit(1)
    bar = Bar(
        "Two processes, of what CPU allows",
        section.median(TWO.name, share),
        LEAST,
        "",
        at_least=True,
    )
    print(f"- {'kept' if bar.kept else '**broken**'}: {bar}")
    if not bar.kept:
        sys.exit(1)


if __name__ == "__main__":
    main()
