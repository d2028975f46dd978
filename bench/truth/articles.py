"""The text of articles, on Zyte's pages: four-word shingles against the body that people marked."""

from __future__ import annotations

from bench.articles import load_pages, score
from bench.truth.corpora import SEEN, SLICES, by_slice, slice_of
from bench.truth.readers import read_all, readers
from bench.truth.report import Cell, Section, Table

_GOOD = 0.9


def measure() -> Section | None:
    """Score every reader on all pages."""
    pages = load_pages()
    if not pages:
        return None
    rows: list[tuple[Cell, ...]] = []
    misses = None
    for name, reader in readers().items():
        texts, timed = read_all(reader, [(page.html, page.url) for page in pages])
        slices = by_slice(
            (slice_of(page.url, page.name), (page.body, text))
            for page, text in zip(pages, texts, strict=True)
        )
        rows.extend(_figures(name, slice_, slices[slice_], timed) for slice_ in SLICES)
        misses = misses or _misses(slices[SEEN])
    return Section(
        "Articles (Zyte)",
        "Four-word shingles of `main_text` against the body; precision and recall are averaged over"
        " pages and F1 is their harmonic mean; CPU from the HTML on.",
        Table(("reader", "slice", "pages", "F1", "precision", "recall", "CPU ms / 100 KB"), tuple(rows)),
        misses,
    )  # fmt: skip


def _figures(
    name: str, slice_: str, pairs: list[tuple[str, str]], timed: float
) -> tuple[Cell, ...]:
    found = score(pairs)
    return name, slice_, len(pairs), found.f1, found.precision, found.recall, round(timed, 2)


def _misses(pairs: list[tuple[str, str]]) -> Table:
    found = [score([pair]) for pair in pairs]
    lost = sum(each.recall < _GOOD for each in found)
    kept = sum(each.precision < _GOOD for each in found)
    return Table(("pages", "content lost", "boilerplate kept"), ((len(pairs), lost, kept),))
