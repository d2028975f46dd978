"""The language of a text, on sentences in files named by language: `build/sentences/ga.txt`.

They are no corpus of the checkout: the file belongs to whoever wants the figure. Those of lingua's repository
(`language-testdata/sentences`, 75 languages, none of them learnt from) are what others publish figures on.
"""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from statistics import mean

from bench.truth.report import Cell, Section, Table

from messor.content.languages import written_in

SENTENCES = Path(__file__).resolve().parents[2] / "build" / "sentences"
_TEXTS = 100  # of each language
_LENGTHS = (1, 4)  # sentences of a text
_SHOWN = 8


def measure() -> Section | None:
    """Score texts of one and of several sentences."""
    files = sorted(SENTENCES.glob("*.txt"))
    if not files:
        return None
    rows: list[tuple[Cell, ...]] = []
    taken: Counter[tuple[str, str]] = Counter()
    for length in _LENGTHS:
        texts = {file.stem: _texts(file, length) for file in files}
        started = time.process_time()
        found = {language: list(map(written_in, own)) for language, own in texts.items()}
        spent = 1_000_000 * (time.process_time() - started) / sum(map(len, found.values()))
        right = [own.count(language) / len(own) for language, own in found.items() if own]
        answered = [sum(map(bool, own)) / len(own) for own in found.values() if own]
        rows.append((length, len(right), mean(answered), mean(right), round(spent)))
        taken = Counter(
            (language, told) for language, own in found.items() for told in own if told != language
        )
    worst = [(*pair, count) for pair, count in taken.most_common(_SHOWN)]
    return Section(
        "Languages",
        "Mean share of texts whose language is told and right; texts below 40 characters are not told.",
        Table(("sentences", "languages", "told", "right", "CPU µs a text"), tuple(rows)),
        Table(("language", "taken for", "texts"), tuple(worst)),
    )


def _texts(file: Path, length: int) -> list[str]:
    lines = [line.strip() for line in file.read_text().splitlines() if line.strip()]
    starts = range(0, min(len(lines), _TEXTS * length), length)
    return [" ".join(lines[start : start + length]) for start in starts]
