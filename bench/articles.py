"""How well and how fast the text of articles is found, on the external pages beside the checkout.

Run as `python -m bench.articles`. Four-word shingles of the text found are held against those of
the body that people marked; precision and recall are averaged over pages and F1 is their harmonic
mean. Time is CPU time from the HTML on, the best of some rounds. Where trafilatura is installed it
takes turns with us.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean

from messor.content.lists import Lists
from messor.content.main import read_main
from messor.content.memory import Memory

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"
SHINGLE = 4
_words = re.compile(r"\w+").findall

Reader = Callable[[str, str], str]


@dataclass(frozen=True)
class Page:
    """A page and the body of its article as people marked it."""

    name: str
    url: str
    html: str
    body: str


@dataclass(frozen=True)
class Score:
    """How the texts found compare with the bodies."""

    f1: float
    precision: float
    recall: float


def load_pages(corpora: Path = CORPORA) -> list[Page]:
    """The pages of the corpus; none where it is not here."""
    listing = corpora / "articles_zyte.json"
    if not listing.exists():
        return []
    return [
        Page(
            row["id"],
            row["url"],
            gzip.decompress((corpora / row["html_gz"]).read_bytes()).decode("utf-8", "replace"),
            row["article_body"],
        )
        for row in json.loads(listing.read_bytes())
    ]


def score(pairs: Iterable[tuple[str, str]]) -> Score:
    """The score of pairs of a body and the text found for it."""
    precisions, recalls = [], []
    for body, found in pairs:
        wanted, given = _shingles(body), _shingles(found)
        common = (wanted & given).total()
        if given:
            precisions.append(common / given.total())
        if wanted:
            recalls.append(common / wanted.total())
    precision, recall = mean(precisions or [0.0]), mean(recalls or [0.0])
    both = precision + recall
    return Score(2 * precision * recall / both if both else 0.0, precision, recall)


def _shingles(text: str) -> Counter[tuple[str, ...]]:
    words = _words(text)
    last = max(1, len(words) - SHINGLE + 1) if words else 0
    return Counter(tuple(words[at : at + SHINGLE]) for at in range(last))


def messor_reader() -> Reader:
    """Our reader, with a memory as a reading process has it."""
    memory = Memory()
    return lambda html, url: read_main(html, url, Lists(memory=memory)).text


def trafilatura_reader() -> Reader | None:
    """Its reader with comments left out, None where it is not installed."""
    if importlib.util.find_spec("trafilatura") is None:
        return None
    extract = importlib.import_module("trafilatura").extract
    return lambda html, _: extract(html, include_comments=False) or ""


def cpu_ms(reader: Reader, pages: Sequence[Page]) -> float:
    """CPU milliseconds a page."""
    started = time.process_time()
    for page in pages:
        reader(page.html, page.url)
    return (time.process_time() - started) / len(pages) * 1000


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    pages = load_pages()
    if not pages:
        print(f"Skipped: the external pages are not at {CORPORA}.", file=sys.stderr)
        return 0
    readers: dict[str, Reader] = {"messor": messor_reader()}
    peer = trafilatura_reader()
    if peer is not None:
        readers["trafilatura"] = peer
    times: dict[str, list[float]] = {name: [] for name in readers}
    for _ in range(arguments.rounds):
        for name, reader in readers.items():
            times[name].append(cpu_ms(reader, pages))
    results = {
        name: asdict(score((page.body, reader(page.html, page.url)) for page in pages))
        | {"cpu_ms": min(times[name]), "pages": len(pages)}
        for name, reader in readers.items()
    }
    if arguments.json:
        print(json.dumps(results, indent=2))
        return 0
    for name, row in results.items():
        print(
            f"{name:12} F1 {row['f1']:.4f}  P {row['precision']:.4f}  R {row['recall']:.4f}"
            f"  {row['cpu_ms']:.2f} ms CPU a page"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
