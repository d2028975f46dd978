"""Learns the table of languages from the n-gram frequencies that lingua publishes, and stores it.

Run as `python -m bench.learning.languages FOLDER`, where FOLDER is `lingua/language-models` of the package
lingua-language-detector 1.3.5 (Apache-2.0; counted in news and web pages of the Leipzig corpora). Brotli is
needed to read it. Only the table of scores is kept; the sentences that `bench.truth` scores it with are others.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from math import log
from pathlib import Path

import brotli

import messor.content

TABLE = Path(messor.content.__file__).parent / "data" / "languages.json"
# Languages that share their letters with others; where letters say enough, nothing needs learning.
LANGUAGES = (
    "af ar az be bg bs ca cs cy da de en eo es et eu fa fi fr ga hr hu id is it kk la lg lt lv mi mk mn"
    " ms nb nl nn pl pt ro ru sk sl sn so sq sr st sv sw tl tn tr ts uk ur vi xh yo zu"
)
MOST = 1_500  # trigrams of a language
RAREST = 1e-5  # a rarer trigram says nothing
SCORES = 15  # steps between the rarest and the most frequent
FREQUENT = 0.02
_ORDERS = ("unigrams", "bigrams", "trigrams")


def frequencies(folder: Path) -> dict[str, float]:
    """Return how often each trigram of a language stands in its words."""
    given: dict[str, float] = {}
    for order in _ORDERS:
        stored = json.loads(brotli.decompress((folder / f"{order}.json.br").read_bytes()))
        for share, grams in stored["ngrams"].items():
            part, _, whole = share.partition("/")
            given.update(dict.fromkeys(grams.split(" "), int(part) / int(whole)))
    # Each order's share is that of the last letter, given the letters before it.
    return {
        gram: given[gram[0]] * given[gram[:2]] * share
        for gram, share in given.items()
        if len(gram) == len(_ORDERS) and gram[0] in given and gram[:2] in given
    }


def scored(found: dict[str, float]) -> list[str]:
    """Return a language's trigrams in a row, by score from 1 on."""
    by_score: dict[int, list[str]] = defaultdict(list)
    top = sorted(found, key=lambda gram: (-found[gram], gram))[:MOST]
    for gram in top:
        score = round(log(found[gram] / RAREST) / log(FREQUENT / RAREST) * SCORES)
        by_score[min(score, SCORES)].append(gram)
    return ["".join(sorted(by_score[score])) for score in range(1, SCORES + 1)]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    learnt = {language: scored(frequencies(folder / language)) for language in LANGUAGES.split()}
    TABLE.write_text(json.dumps(learnt, ensure_ascii=False, indent=0) + "\n")


if __name__ == "__main__":
    main()
