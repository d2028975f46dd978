"""How fast robots.txt files are parsed and asked, beside protego and urllib.robotparser.

Run as `python -m bench.robots`. Each file has a host of its own and a round asks about each of
its URLs once for each agent, one agent after the other: as in a crawl, no URL comes twice
within reach of a cache. The programs take turns in every round; medians over rounds are shown.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from urllib.robotparser import RobotFileParser

from protego import Protego

from messor.web.robots import Robots

CORPUS = Path(__file__).resolve().parents[2] / "shared/corpora/robots_corpus_google_oracle.json.gz"
OVER_PROTEGO = 3.0
OVER_URLLIB = 10.0
WILDCARD_MS = 50.0

Ask = Callable[[str, str], object]


@dataclass(frozen=True)
class Site:
    """A file and the URLs that each agent asks about."""

    text: str
    urls: dict[str, list[str]]


def stored_sites(path: Path) -> list[Site]:
    data = json.loads(gzip.decompress(path.read_bytes()))
    sites = [Site(file["robots_txt"], {}) for file in data["files"]]
    for index, agent, url, _ in data["cases"]:
        own = url.replace("://site.example", f"://{index}.site.example", 1)
        sites[index].urls.setdefault(agent, []).append(own)
    return sites


def generated_sites(count: int = 400) -> list[Site]:
    sites: list[Site] = []
    for index in range(count):
        names = [f"/section-{(index * 7 + n) % 97}/" for n in range(5 + index % 40)]
        rules = [f"Disallow: {name}private" for name in names]
        if index % 3 == 0:
            rules += ["Disallow: /*?sort=", "Disallow: /*.pdf$", "Allow: /$"]
        urls = [f"https://{index}.site.example{name}" for name in names]
        urls += [f"{url}private/{n}" for n, url in enumerate(urls)]
        urls += [f"https://{index}.site.example/item/{n}?sort=up" for n in range(5)]
        sites.append(Site("\n".join(["User-agent: *", *rules]), {"ExampleBot": urls}))
    return sites


def parse_messor(text: str) -> Ask:
    return Robots.parse(text.encode("utf-8", "surrogatepass")).check


def parse_protego(text: str) -> Ask:
    ask: Ask = Protego.parse(text).can_fetch
    return ask


def parse_urllib(text: str) -> Ask:
    parser = RobotFileParser()
    parser.parse(text.splitlines())
    return parser.can_fetch


PARSERS = {"messor": parse_messor, "protego": parse_protego, "urllib": parse_urllib}
URL_FIRST = {"protego"}  # the others take the agent first


def time_decisions(sites: list[Site], name: str, parsed: list[Ask]) -> float:
    """Seconds for one decision."""
    spent, asked = 0.0, 0
    for agent in sorted({agent for site in sites for agent in site.urls}):
        for site, ask in zip(sites, parsed, strict=True):
            urls = site.urls.get(agent)
            if not urls:
                continue
            asked += len(urls)
            if name in URL_FIRST:
                start = time.perf_counter()
                for url in urls:
                    ask(url, agent)
            else:
                start = time.perf_counter()
                for url in urls:
                    ask(agent, url)
            spent += time.perf_counter() - start
    return spent / asked


def time_parsing(sites: list[Site], name: str, *, asking: bool) -> float:
    """Seconds for one file; `asking`: until its first decision, which may prepare something."""
    parse = PARSERS[name]
    question = ("ExampleBot", "https://site.example/")
    first, second = question[::-1] if name in URL_FIRST else question
    start = time.perf_counter()
    for site in sites:
        ask = parse(site.text)
        if asking:
            ask(first, second)
    return (time.perf_counter() - start) / len(sites)


def time_wildcards() -> float:
    robots = Robots.parse(b"User-agent: *\nDisallow: /*a*a*a*a*b\n")
    url = "https://site.example/" + "a" * 2000
    robots.check("ExampleBot", "https://site.example/")
    start = time.perf_counter()
    robots.check("ExampleBot", url)
    robots.check("ExampleBot", f"{url}c%62")
    return time.perf_counter() - start


def measure(sites: list[Site], rounds: int) -> dict[str, tuple[float, float, float]]:
    """By program: seconds for a decision, for parsing a file, for parsing and one decision."""
    parsed = {name: [parse(site.text) for site in sites] for name, parse in PARSERS.items()}
    for name in PARSERS:
        time_decisions(sites, name, parsed[name])
    taken: dict[str, list[tuple[float, float, float]]] = {name: [] for name in PARSERS}
    for _ in range(rounds):
        for name in PARSERS:
            taken[name].append(
                (
                    time_decisions(sites, name, parsed[name]),
                    time_parsing(sites, name, asking=False),
                    time_parsing(sites, name, asking=True),
                )
            )
    return {
        name: (median(r[0] for r in rows), median(r[1] for r in rows), median(r[2] for r in rows))
        for name, rows in taken.items()
    }


def judge(taken: dict[str, tuple[float, float, float]], wildcard: float) -> bool:
    """Prints each bar; whether all are kept."""
    messor, protego, urllib = taken["messor"], taken["protego"], taken["urllib"]
    over_protego, over_urllib = protego[0] / messor[0], urllib[0] / messor[0]
    parsing = messor[1] / protego[1]
    bars = [
        (f"decisions over protego's   {over_protego:6.1f}x >= 3x", over_protego >= OVER_PROTEGO),
        (f"decisions over urllib's    {over_urllib:6.1f}x >= 10x", over_urllib >= OVER_URLLIB),
        (f"parsing beside protego's   {parsing:6.2f}x <= 1x", parsing <= 1),
        (
            f"/*a*a*a*a*b, 2,000 letters {wildcard * 1e3:6.2f} ms < 50 ms",
            wildcard * 1e3 < WILDCARD_MS,
        ),
    ]
    for text, kept in bars:
        print(f"{text:45} {'kept' if kept else 'BROKEN'}")
    return all(kept for _, kept in bars)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    given = parser.parse_args()
    stored = given.corpus.exists()
    sites = stored_sites(given.corpus) if stored else generated_sites()
    asked = sum(len(urls) for site in sites for urls in site.urls.values())
    kind = "real" if stored else "generated"
    print(f"{len(sites)} {kind} files, {asked} decisions, {given.rounds} rounds")
    taken = measure(sites, given.rounds)
    print(f"{'':10}{'decisions/s':>12}{'us each':>10}{'parse ms':>10}{'and ask ms':>12}")
    for name, (decision, parsing, asking) in taken.items():
        print(
            f"{name:10}{1 / decision:12,.0f}{decision * 1e6:10.2f}"
            f"{parsing * 1e3:10.3f}{asking * 1e3:12.3f}"
        )
    if not judge(taken, time_wildcards()):
        sys.exit(1)


if __name__ == "__main__":
    main()
