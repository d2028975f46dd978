"""`make bench`: Messor's full path against the floor, Scrapy and Crawlee, on the same pages; then
Messor alone, crawling again what has not changed, and at a polite pace.

Contenders take turns for some rounds, each as one process measured from outside; medians are
printed, and kept in `bench/results.md` when no contender was left out or failed. Exits 1 when one
failed, or when a hard bar is broken: PostgreSQL's CPU or WAL per page, rows kept of what is known.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import click
from bench import paced, unchanged
from bench.results import Bar, Section, memory_bars, page, path_bars, stripped_bar, text_bars
from bench.stage import Contender, FailedRunError, Result, Stage, embedded_postgres

from messor.store.server import ServerStatus
from simweb.process import WorldProcess

RESULTS = Path(__file__).parent / "results.md"
PER_HOST = 4  # requests at a time to one host, for Messor and the floor

MESSOR = Contender("Messor, full path", "bench.messor_full", database="schema")
TEXTS = Contender(
    "Messor, texts in the archive", "bench.messor_full", ["--texts-in-archive"], database="schema"
)
FLOOR = Contender("floor", "bench.floor", database="empty")
BARE = Contender("floor without markdown", "bench.floor", ["--no-markdown"], database="empty")
SCRAPY = Contender("Scrapy, tuned", "bench.scrapy_peer")
STRIPPED = Contender("Scrapy, stripped", "bench.scrapy_peer", ["--stripped"])
CRAWLEE = Contender("tuned Crawlee", "bench.crawlee_peer")
CONTENDERS = {
    "messor": MESSOR,
    "texts": TEXTS,
    "floor": FLOOR,
    "bare": BARE,
    "scrapy": SCRAPY,
    "stripped": STRIPPED,
    "crawlee": CRAWLEE,
}
ALONE = ("unchanged", "paced")  # sections of Messor alone
SECURE = ("messor", "floor", "scrapy", "stripped")

_NOTES = """\
Every contender crawls all pages of all hosts of the simulated web by their links, in one process,
after its imports and before its exit; contenders take turns and medians are shown. Messor does
everything: robots.txt, decisions, pace (delay 0), archive, snapshots, structured data, markdown,
events, leases; once with the texts of pages in PostgreSQL, once in the archive. The floor uses Messor's libraries and nothing else: fetch, parse, links, title and
markdown, COPY of 200 rows at a time into a table kept as Messor keeps it (markdown uncompressed).
Scrapy and Crawlee fetch, find links and titles, and write JSON lines. Scrapy is tuned as its users
can: a seen set in the spider, uvloop, 64 requests at a time, and no logging, robots, cookies, retries
or redirects. The stripped one goes further than an application could: no middlewares, selectors,
items or exporters, its own parser calls, an experimental download handler. CPU is user and system time of all processes of a
contender, PostgreSQL's that of all processes of its server; the web's own is in neither. The web,
the contender and PostgreSQL share the machine; a run with cores busy elsewhere, on other programs,
says little about pages/s. 1 KB is 1,000 bytes. Unchanged pages are crawled a second time over the
same database by a new process; a first crawl with extraction reads all pages for their content in a
second process of its own, as Messor does unless told otherwise. Paced pages are counted in the web's log, from the hosts that answer;
hosts that stall take a request and answer nothing, or a byte every 5 s.""".splitlines()


class Bench:
    """The sections measured so far, and the bars they keep or break."""

    def __init__(self, dsn: str, server: ServerStatus, rounds: int, only: tuple[str, ...]) -> None:
        assert server.pid is not None
        self._dsn = dsn
        self._postmaster = server.pid
        self._notes = [*_NOTES, f"PostgreSQL {server.version}, {rounds} rounds."]
        self._rounds = rounds
        self.only = only
        self.sections: list[Section] = []
        self.bars: list[Bar] = []
        self.failed = False

    def contest(self, hosts: int, pages: int, *, tls: bool, memory: bool) -> None:
        """The sections of all contenders, as far as they take part."""
        if (plain := self.section(tuple(CONTENDERS), hosts, pages)) is not None:
            self.bars += path_bars(plain, MESSOR.name, FLOOR.name, SCRAPY.name)
            self.bars += text_bars(plain, TEXTS.name, SCRAPY.name)
            self.bars += stripped_bar(plain, MESSOR.name, STRIPPED.name)
        if tls:
            self.section(SECURE, 150, 3, tls=True)
        if memory and (large := self.section(("messor",), 50, 1000, rounds=1)) and large.runs:
            self.bars += memory_bars(large, MESSOR.name)

    def section(
        self, names: tuple[str, ...], hosts: int, pages: int, *, rounds: int = 0, tls: bool = False
    ) -> Section | None:
        """Run the chosen contenders in turn on one web."""
        chosen = [CONTENDERS[name] for name in names if name in self.only]
        if not chosen:
            return None
        scheme = "HTTPS" if tls else "HTTP"
        title = f"{scheme}: {hosts * pages:,} pages, {hosts} hosts with {pages:,} pages each"
        _progress(title)
        runs: dict[str, list[Result]] = {}
        with WorldProcess(profile="bench", hosts=hosts, pages=pages, tls=tls) as web:
            stage = Stage(web, self._dsn, self._postmaster, per_host=PER_HOST)
            for _ in range(rounds or self._rounds):
                for contender in chosen:
                    self._turn(stage, contender, runs)
        section = Section(title, runs)
        self.sections.append(section)
        return section

    def _turn(self, stage: Stage, contender: Contender, runs: dict[str, list[Result]]) -> None:
        with self._forgiving():
            result = stage.run(contender)
            runs.setdefault(contender.name, []).append(result)
            _tell(contender.name, result)

    def unchanged(self, hosts: int, pages: int) -> None:
        """Crawl a web twice, with and without validators, with and without extraction."""
        section = unchanged.new_section(hosts, pages)
        _progress(section.title)
        for _ in range(self._rounds):
            for pair in unchanged.PAIRS:
                with self._forgiving():
                    runs = unchanged.run(
                        self._dsn, self._postmaster, hosts, pages, per_host=PER_HOST, pair=pair
                    )
                    for name, result in runs.items():
                        section.add(name, result)
                        _tell(name, result)
        self.sections.append(section)
        self.bars += unchanged.bars(section)

    def paced(self) -> None:
        """Crawl politely, alone and beside hosts that stall; then more hosts, until it is too many."""
        section = paced.new_section()
        _progress(section.title)
        rest = [(hosts, 0) for hosts in paced.MORE_HOSTS]
        for hosts, stalling in [(paced.HOSTS, 0), (paced.HOSTS, paced.STALLING), *rest]:
            with self._forgiving():
                name = paced.name_of(hosts, stalling)
                result = paced.run(self._dsn, self._postmaster, hosts, stalling)
                section.add(name, result)
                share = result.figures["share"]
                _tell(f"{name}, {share:.1%} of what is allowed", result)
                if hosts > paced.HOSTS and share < paced.WHOLE:
                    break
        self.sections.append(section)
        self.bars += paced.bars(section)

    @contextlib.contextmanager
    def _forgiving(self) -> Iterator[None]:
        """A run that fails is told, and costs only itself."""
        try:
            yield
        except FailedRunError as error:
            self.failed = True
            _progress(f"  {error}")

    def show(self, *, keep: bool) -> None:
        """Print the results; only a whole run replaces those on file."""
        text = page(self.sections, self.bars, self._notes)
        if keep:
            RESULTS.write_text(text, encoding="utf-8")
        print(text)


@click.command()
@click.option("--hosts", default=20, show_default=True)
@click.option("--pages", default=500, show_default=True, help="Pages per host")
@click.option("--rounds", default=5, show_default=True)
@click.option("--quick", is_flag=True, help="10 hosts with 100 pages, 2 rounds, no memory or pace")
@click.option(
    "--only",
    multiple=True,
    type=click.Choice([*CONTENDERS, *ALONE]),
    help="Only these contenders and sections",
)
@click.option("--memory/--no-memory", default=None, help="50,000 pages; part of a full run")
@click.option("--tls/--no-tls", default=True, help="150 hosts with 3 pages over HTTPS")
def main(
    *,
    hosts: int,
    pages: int,
    rounds: int,
    quick: bool,
    only: tuple[str, ...],
    memory: bool | None,
    tls: bool,
) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if quick:
        hosts, pages, rounds = 10, 100, 2
    if memory is None:
        memory = not quick and not only
    with embedded_postgres() as (dsn, server):
        bench = Bench(dsn, server, rounds, only or (*CONTENDERS, *ALONE))
        bench.contest(hosts, pages, tls=tls, memory=memory)
        if "unchanged" in bench.only:
            bench.unchanged(hosts, pages)
        if "paced" in bench.only and not quick:
            bench.paced()
    bench.show(keep=not (quick or only or bench.failed))
    for bar in bench.bars:
        if not bar.kept:
            _progress(f"broken: {bar}")
    if bench.failed or any(bar.hard and not bar.kept for bar in bench.bars):
        sys.exit(1)


def _tell(name: str, result: Result) -> None:
    _progress(
        f"  {name}: {result.pages_per_second:.0f} pages/s, "
        f"{result.client_ms:.2f} + {result.postgres_ms:.2f} ms CPU per page "
        f"(the web {result.web_ms:.2f}), "
        f"{result.other_cores:.2f} cores busy elsewhere"
    )


def _progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
