"""The learnt model as data: tables of scores for pairs of features, and scores of words.

`bench/learning` writes the file; `VERSION` tells which one a page was read with.
"""

from __future__ import annotations

import base64
from importlib import resources
from typing import NamedTuple

import msgspec


class _Pair(msgspec.Struct):
    first: str
    second: str
    scores: str  # base64 of 256 bytes, by 16 * first + second


class _Model(msgspec.Struct):
    version: int
    step: float  # logits per unit of score
    bias: float
    pairs: list[_Pair]
    words: dict[str, dict[str, int]]


class Pair(NamedTuple):
    """Scores of the combined values of two features, 0 to 255."""

    first: str
    second: str
    scores: bytes


_FILE = resources.files("messor.content") / "data" / "main_content.json"
_MODEL = msgspec.json.decode(_FILE.read_bytes(), type=_Model)
VERSION = _MODEL.version
STEP = _MODEL.step
BIAS = _MODEL.bias
PAIRS = tuple(Pair(each.first, each.second, base64.b64decode(each.scores)) for each in _MODEL.pairs)
WORDS = _MODEL.words
