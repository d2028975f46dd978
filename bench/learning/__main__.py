"""Learns the model, prints its scores, and stores it with `--write`."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean

import numpy as np
from bench.learning.boosting import Table, as_data, as_tables, condensed, quantised, train
from bench.learning.cases import Case, load_cases
from bench.learning.words import Rates, final_words, learn_rates, lexicon_without
from bench.truth.corpora import SEEN
from bench.truth.wcxb import TYPES, overlap

import messor.content
from messor.content.main.extract import choose_from
from messor.content.main.features import read_columns
from messor.content.main.model import likelihoods
from messor.content.main.tables import Pair

MODEL = Path(messor.content.__file__).parent / "data" / "main_content.json"
VERSION = 1
FOLDS = 4
# The articles are few and are read with as much care.
_WEIGHT = {"wcxb": 1.0, "articles": 1.5}

Model = tuple[list[Pair], float, float]


def fold_of(case: Case) -> int:
    """Return the part that a page's site belongs to."""
    return hashlib.sha256(f"fold {case.site}".encode()).digest()[0] % FOLDS


def columns_of(case: Case, rates: Rates) -> dict[str, bytes]:
    found = case.outline
    lexicon = lexicon_without(rates, case.site)
    return read_columns(found.layout, found.weights, found.facts, lexicon)


def learn(cases: Sequence[Case], rates: Rates) -> Model:
    """Learn a model from these pages."""
    rows, shares, weights = [], [], []
    names: list[str] = []
    for case in cases:
        columns = columns_of(case, rates)
        names = list(columns)
        rows.append(np.array([list(column) for column in columns.values()]).T)
        shares.append(np.array(case.shares))
        weights.append(_weights(case))
    features = np.concatenate(rows)
    model = train(features, np.concatenate(shares), np.concatenate(weights))
    tables, constant = as_tables(model, names)
    return quantised(condensed(tables, features, names), constant)


def _weights(case: Case) -> Table:
    """Weigh blocks by their words, and every page the same."""
    sizes = np.array([each.total() + 0.5 for each in case.bags])
    found: Table = sizes / sizes.sum() * _WEIGHT[case.corpus]
    return found


def predict(model: Model, case: Case, rates: Rates) -> list[int]:
    """Return the blocks that the reader would choose with this model."""
    likely = likelihoods(columns_of(case, rates), *model)
    return choose_from(case.outline, likely)


def report(title: str, cases: Sequence[Case], choice: Callable[[Case], Sequence[int]]) -> None:
    """Print the mean F1 by type."""
    scores = defaultdict(list)
    for case in cases:
        bags = [case.bags[place] for place in choice(case)]
        total: Counter[str] = sum(bags, Counter())
        value = overlap(case.wanted, total)[0]
        scores[case.type if case.corpus == "wcxb" else case.corpus].append(value)
    every = [value for name in TYPES for value in scores[name]]
    figures = " ".join(f"{name} {mean(scores[name]):.3f}" for name in (*TYPES, "articles"))
    print(f"{title:10} {mean(every):.4f} {figures}", flush=True)


def validate(seen: Sequence[Case]) -> dict[int, list[int]]:
    """Return the choice for each page by a model that has not seen its site."""
    chosen: dict[int, list[int]] = {}
    for fold in range(FOLDS):
        others = [case for case in seen if fold_of(case) != fold]
        rates = learn_rates(others)
        model = learn(others, rates)
        for case in seen:
            if fold_of(case) == fold:
                chosen[id(case)] = predict(model, case, rates)
    return chosen


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--write", action="store_true", help="store the model in the package")
    parser.add_argument("--unvalidated", action="store_true", help="skip the cross-validation")
    parser.add_argument("--held", action="store_true", help="score the held slice as well")
    arguments = parser.parse_args()
    cases = load_cases()
    seen = [case for case in cases if case.slice == SEEN]
    report("rules", seen, lambda case: case.outline.ruled)
    if not arguments.unvalidated:
        chosen = validate(seen)
        report("validated", seen, lambda case: chosen[id(case)])
    rates = learn_rates(seen)
    model = learn(seen, rates)
    pairs, step, bias = model
    print(f"{len(pairs)} tables", file=sys.stderr)
    if arguments.held:
        held = [case for case in cases if case.slice != SEEN]
        report("held rules", held, lambda case: case.outline.ruled)
        report("held model", held, lambda case: predict(model, case, rates))
    if arguments.write:
        stored = {
            "version": VERSION, "step": step, "bias": bias, "pairs": as_data(pairs),
            "words": final_words(rates),
        }  # fmt: skip
        MODEL.write_text(json.dumps(stored, ensure_ascii=False, separators=(",", ":")) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
