"""Medians, bars and the page that shows them. Measuring is done elsewhere."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias

from bench.stage import Result

PACKAGES = ("aiohttp", "asyncpg", "turbohtml", "uvloop", "Scrapy", "crawlee")

Column: TypeAlias = tuple[str, Callable[[Result], float], str]

_COLUMNS: list[Column] = [
    ("pages/s", lambda result: result.pages_per_second, ".0f"),
    ("wall s", lambda result: result.seconds, ".1f"),
    ("client CPU ms/page", lambda result: result.client_ms, ".2f"),
    ("PostgreSQL CPU ms/page", lambda result: result.postgres_ms, ".2f"),
    ("CPU ms/page", lambda result: result.cpu_ms, ".2f"),
    ("WAL KB/page", lambda result: result.wal_kb, ".1f"),
    ("round trips/page", lambda result: result.round_trips, ".3f"),
    ("peak RSS MB", lambda result: result.rss_mb, ".0f"),
    ("cores busy elsewhere", lambda result: result.other_cores, ".2f"),
]


@dataclass(frozen=True)
class Bar:
    """A bound that a figure keeps or breaks; a hard one fails the run."""

    what: str
    found: float
    bound: float
    unit: str
    at_least: bool = False
    hard: bool = False

    @property
    def kept(self) -> bool:
        return self.found >= self.bound if self.at_least else self.found <= self.bound

    def __str__(self) -> str:
        sign = "≥" if self.at_least else "≤"
        return f"{self.what}: {self.found:.2f}{self.unit} ({sign} {self.bound:g}{self.unit})"


@dataclass
class Section:
    """One table: a web, and the runs of each contender on it."""

    title: str
    runs: dict[str, list[Result]]
    extra: list[Column] = field(default_factory=list)  # columns of its own

    def add(self, name: str, result: Result) -> None:
        self.runs.setdefault(name, []).append(result)

    def median(self, name: str, figure: Callable[[Result], float]) -> float:
        return statistics.median(figure(run) for run in self.runs[name])

    def to_markdown(self) -> str:
        columns = [*_COLUMNS, *self.extra]
        head = " | ".join(title for title, _, _ in columns)
        lines = [f"## {self.title}", "", f"| | {head} |", "|---|" + "--:|" * len(columns)]
        for name in self.runs:
            cells = (format(self.median(name, figure), form) for _, figure, form in columns)
            lines.append(f"| {name} | {' | '.join(cells)} |")
        return "\n".join([*lines, ""])


def path_bars(section: Section, messor: str, floor: str, scrapy: str) -> list[Bar]:
    """The bars of the plain HTTP table, as far as their contenders ran."""
    if messor not in section.runs:
        return []

    def of(figure: Callable[[Result], float], name: str = messor) -> float:
        return section.median(name, figure)

    bars = [
        Bar("PostgreSQL CPU per page", of(lambda r: r.postgres_ms), 0.3, " ms", hard=True),
        Bar("WAL per page", of(lambda r: r.wal_kb), 25, " KB", hard=True),
        Bar("Round trips per page", of(lambda r: r.round_trips), 0.2, ""),
        Bar("Peak RSS", of(lambda r: r.rss_mb), 200, " MB"),
    ]
    if floor in section.runs:
        ratio = of(lambda r: r.cpu_ms) / of(lambda r: r.cpu_ms, floor)
        bars.insert(0, Bar(f"CPU against the {floor}", ratio, 2.0, " times"))
    if scrapy in section.runs:
        ratio = of(lambda r: r.pages_per_second) / of(lambda r: r.pages_per_second, scrapy)
        bars.insert(0, Bar(f"Pages/s against {scrapy}", ratio, 3.0, " times", at_least=True))
    return bars


def text_bars(section: Section, texts: str, scrapy: str) -> list[Bar]:
    """The bars of a crawl whose texts go into the archive."""
    if texts not in section.runs:
        return []
    postgres = section.median(texts, lambda r: r.postgres_ms)
    bars = [
        Bar("PostgreSQL CPU per page, texts in the archive", postgres, 0.12, " ms"),
        Bar(
            "WAL per page, texts in the archive",
            section.median(texts, lambda r: r.wal_kb),
            4,
            " KB",
            hard=True,
        ),
    ]
    if scrapy in section.runs:
        ratio = section.median(texts, lambda r: r.pages_per_second) / section.median(
            scrapy, lambda r: r.pages_per_second
        )
        name = f"Pages/s against {scrapy}, texts in the archive"
        bars.append(Bar(name, ratio, 3.6, " times", at_least=True))
    return bars


def stripped_bar(section: Section, messor: str, stripped: str) -> list[Bar]:
    """Messor keeps everything; it should still not be slower than a Scrapy that keeps nothing."""
    if messor not in section.runs or stripped not in section.runs:
        return []
    ratio = section.median(messor, lambda r: r.pages_per_second) / section.median(
        stripped, lambda r: r.pages_per_second
    )
    return [Bar(f"Pages/s against {stripped}", ratio, 1.0, " times", at_least=True)]


def memory_bars(section: Section, messor: str) -> list[Bar]:
    def mark(pages: int) -> float:
        return section.median(messor, lambda run: run.figures[f"rss_{pages}"] / 1e6)

    growth = mark(50_000) - mark(10_000)
    return [
        Bar("RSS at 50,000 pages", mark(50_000), 200, " MB"),
        Bar("RSS growth from 10,000 to 50,000 pages", growth, 10, " MB"),
    ]


def page(sections: list[Section], bars: list[Bar], notes: list[str]) -> str:
    """The whole of results.md."""
    lines = ["# Benchmark", "", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC. {machine()}.", ""]
    lines += [*notes, ""]
    lines += [section.to_markdown() for section in sections]
    if bars:
        lines += ["## Bars", ""]
        lines += [f"- {'kept' if bar.kept else '**broken**'}: {bar}" for bar in bars]
    return "\n".join([*lines, ""])


def machine() -> str:
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return (
        f"{os.cpu_count()} cores of {model}, {memory:.0f} GB, {platform.system()} "
        f"{platform.release()}; Python {platform.python_version()}, {packages}"
    )
