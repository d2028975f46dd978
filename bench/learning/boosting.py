"""Boosted trees of depth two, and the tables of pairs of features that they amount to.

A tree of depth two is a sum of two functions, each of the root's feature and of one below it. All trees
with the same pair of features add up to one table, so the model is exactly a sum of tables.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import lightgbm
import numpy as np

from messor.content.main.features import BINS
from messor.content.main.tables import Pair

PARAMETERS = {
    "objective": "cross_entropy", "num_leaves": 4, "max_depth": 2, "learning_rate": 0.12,
    "min_data_in_leaf": 80, "lambda_l2": 10, "feature_fraction": 0.4, "bagging_fraction": 0.7,
    "bagging_freq": 1, "max_bin": 31, "verbosity": -1, "num_threads": 1, "seed": 1,
}  # fmt: skip
ROUNDS = 300
# Tables whose scores differ by fewer logits are spread over others.
_MIN_RANGE = 0.15

Table: TypeAlias = Any  # a NumPy array


def train(features: Table, shares: Table, weights: Table, rounds: int = ROUNDS) -> Any:
    """Return a model of the shares of content."""
    data = lightgbm.Dataset(features, shares, weight=weights / weights.mean())
    return lightgbm.train(PARAMETERS, data, num_boost_round=rounds)


def as_tables(model: Any, names: Sequence[str]) -> tuple[dict[tuple[str, str], Table], float]:
    """Return the tables of a model by pair of features, and its constant."""
    tables: dict[tuple[str, str], Table] = {}
    constant = 0.0
    for tree in model.dump_model()["tree_info"]:
        for first, second, table in _parts(tree["tree_structure"]):
            if first is None:
                constant += float(table[0, 0])
                continue
            one, other = names[first], names[first if second is None else second]
            key, part = ((one, other), table) if one <= other else ((other, one), table.T)
            tables[key] = tables.get(key, np.zeros((BINS, BINS))) + part
    return tables, constant


def _parts(root: Any) -> Iterator[tuple[int | None, int | None, Table]]:
    """Yield the functions of one tree: root's feature, feature below, values by both."""
    table = np.zeros((BINS, BINS))
    if "split_feature" not in root:
        yield None, None, table + root["leaf_value"]
        return
    values = np.arange(BINS)
    for side, is_left in (("left_child", True), ("right_child", False)):
        goes = (values <= root["threshold"]) == is_left
        child = root[side]
        part = np.zeros((BINS, BINS))
        if "split_feature" in child:
            below = values <= child["threshold"]
            left, right = child["left_child"]["leaf_value"], child["right_child"]["leaf_value"]
            part[goes, :] = np.where(below, left, right)
            yield root["split_feature"], child["split_feature"], part
        else:
            part[goes, :] = child["leaf_value"]
            yield root["split_feature"], None, part


def condensed(
    tables: dict[tuple[str, str], Table], features: Table, names: Sequence[str]
) -> dict[tuple[str, str], Table]:
    """Return fewer tables: of small ones, what depends on one feature alone moves to another table."""
    found = {pair: table.copy() for pair, table in tables.items() if np.ptp(table) >= _MIN_RANGE}
    for pair, table in tables.items():
        homes = [next((key for key in found if name in key), None) for name in pair]
        if pair in found:
            continue
        if None in homes:
            found[pair] = table.copy()
            continue
        for name, home, part in zip(pair, homes, _apart(table, pair, features, names), strict=True):
            assert home is not None
            found[home] += part[:, None] if home[0] == name else part[None, :]
    return found


def _apart(
    table: Table, pair: tuple[str, str], features: Table, names: Sequence[str]
) -> tuple[Table, Table]:
    """Return the sum of two functions, one of each feature, that is nearest to a table on the pages."""
    first, second = (features[:, names.index(name)] for name in pair)
    seen = np.bincount(first * BINS + second, minlength=BINS * BINS).reshape(BINS, BINS) + 1e-6
    one = (table * seen).sum(1) / seen.sum(1)
    other = ((table - one[:, None]) * seen).sum(0) / seen.sum(0)
    return one, other


def quantised(
    tables: dict[tuple[str, str], Table], constant: float
) -> tuple[list[Pair], float, float]:
    """Return tables of bytes, the logits per unit, and the constant that belongs to them."""
    ranges = [float(np.ptp(table)) for table in tables.values()]
    # A byte holds any score, and two bytes any sum of them.
    step = max(max(ranges) / 255, sum(ranges) / 65_000)
    bias = constant
    pairs = []
    for (first, second), table in sorted(tables.items()):
        low = float(table.min())
        bias += low
        scores = np.rint((table - low) / step).astype(np.uint8)
        pairs.append(Pair(first, second, scores.tobytes()))
    return pairs, step, bias


def as_data(pairs: Sequence[Pair]) -> list[dict[str, str]]:
    """Return the tables as they are stored."""
    return [
        {"first": each.first, "second": each.second, "scores": base64.b64encode(each.scores).decode()}
        for each in pairs
    ]  # fmt: skip
