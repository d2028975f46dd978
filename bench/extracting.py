"""What extraction costs the path: Messor beside tuned Scrapy on the same pages, taking turns.

Run as `python -m bench.extracting`. Four ways of Messor: the path alone in one process, with what it
says of every page by itself (title, description, language, canonical address, structured data, the
kind of page by its address, link and title); the path with a second process that reads every page
for quality and products (main content, metadata, page type, flags, products), to the last record
committed; and, which no bar is set for, the same with as many readers as there are cores, as
`messor up` has them, and with all other kinds of records as well. Medians of some rounds. Pages/s of a
machine that is busy with other things say little; what the CPU time of its busiest process, and of
all of them on all cores, would allow is therefore told beside them.
"""

from __future__ import annotations

import os
import signal
import sys

import click
from bench.results import Bar, Section, machine
from bench.run import MESSOR, PER_HOST, SCRAPY
from bench.stage import Contender, FailedRunError, Result, Stage, embedded_postgres

from simweb.process import WorldProcess

PRODUCTS = Contender(
    "Messor, quality and products", "bench.messor_records", ["product"], database="schema"
)
EVERY_CORE = Contender(
    "Messor, quality and products, a reader per core",
    "bench.messor_records",
    ["product", "every_core"],
    database="schema",
)
RECORDS = Contender("Messor, all kinds of records", "bench.messor_records", database="schema")
CONTENDERS = (SCRAPY, MESSOR, PRODUCTS, EVERY_CORE, RECORDS)
QUIET = 0.1  # cores that strangers may use
LEAST = {MESSOR.name: 2.5, PRODUCTS.name: 1.5}  # times tuned Scrapy's pages/s


def measure(hosts: int, pages: int, rounds: int) -> Section:
    """The contenders in turn on one web; one that fails costs only its turn."""
    title = f"Extraction: {hosts * pages:,} pages, {hosts} hosts with {pages:,} pages each"
    section = Section(title, {}, extra=[("reader CPU ms/page", _reader_ms, ".2f")])
    with (
        embedded_postgres() as (dsn, server),
        WorldProcess(profile="bench", hosts=hosts, pages=pages) as web,
    ):
        assert server.pid is not None
        stage = Stage(web, dsn, server.pid, per_host=PER_HOST)
        for _ in range(rounds):
            for contender in CONTENDERS:
                try:
                    section.add(contender.name, _told(contender, stage.run(contender)))
                except FailedRunError as error:
                    print(f"  {error}", file=sys.stderr, flush=True)
    return section


def _told(contender: Contender, result: Result) -> Result:
    records = result.figures.get("records", 0)
    found = f", {records:.0f} records" if records else ""
    print(
        f"  {contender.name}: {result.pages_per_second:.0f} pages/s, "
        f"{result.client_ms:.2f} + {result.postgres_ms:.2f} ms CPU per page{found}, "
        f"{result.other_cores:.2f} cores busy elsewhere",
        file=sys.stderr,
        flush=True,
    )
    return result


def _reader_ms(result: Result) -> float:
    """CPU of all processes but the first."""
    own = result.figures.get("own_cpu", result.client_cpu)
    return 1000 * (result.client_cpu - own) / result.pages


def _needed_ms(result: Result) -> float:
    """What a page takes at least: the time of its busiest process, or of all on all cores."""
    reader = _reader_ms(result)
    together = (result.cpu_ms + result.web_ms) / (os.cpu_count() or 1)
    return max(result.client_ms - reader, reader, together)


def allowed(section: Section) -> list[str]:
    """What CPU time alone would allow, whoever else used the machine meanwhile."""
    if SCRAPY.name not in section.runs:
        return []
    peer = section.median(SCRAPY.name, _needed_ms)
    return [
        f"{name}: by CPU time alone at most {peer / section.median(name, _needed_ms):.2f} times"
        for name in (MESSOR.name, PRODUCTS.name, RECORDS.name)
        if name in section.runs
    ]


def is_disturbed(section: Section) -> bool:
    """Whether others took so much of the machine that its pages/s say little."""
    return any(section.median(name, lambda run: run.other_cores) > QUIET for name in section.runs)


def bars(section: Section) -> list[Bar]:
    """How Messor's ways keep up, as far as they and Scrapy ran."""
    if SCRAPY.name not in section.runs:
        return []
    peer = section.median(SCRAPY.name, lambda result: result.pages_per_second)
    return [
        Bar(
            f"{name}: pages/s against {SCRAPY.name}",
            section.median(name, lambda result: result.pages_per_second) / peer,
            least,
            " times",
            at_least=True,
        )
        for name, least in LEAST.items()
        if name in section.runs
    ]


@click.command(help=(__doc__ or "").split("\n", maxsplit=1)[0])
@click.option("--hosts", default=20, show_default=True)
@click.option("--pages", default=250, show_default=True, help="Pages per host")
@click.option("--rounds", default=3, show_default=True)
def main(*, hosts: int, pages: int, rounds: int) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    section = measure(hosts, pages, rounds)
    print(f"{machine()}.\n")
    print(section.to_markdown())
    doubt = " (disturbed: says little)" if is_disturbed(section) else ""
    for bar in bars(section):
        print(f"- {'kept' if bar.kept else '**broken**'}{doubt}: {bar}")
    for line in allowed(section):
        print(f"- {line}")
    if any(contender.name not in section.runs for contender in CONTENDERS):
        sys.exit(1)


if __name__ == "__main__":
    main()
