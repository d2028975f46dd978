"""The external corpora beside the checkout, and how each is divided into a seen and a held slice.

A third of the sites is held back: nobody looks at its pages, they are only scored. What helps the
seen slice alone is fitted to it. Pages of one site are always on the same side.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

CORPORA = Path(__file__).resolve().parents[3] / "shared" / "corpora"
SEEN = "seen"
HELD = "held"
SLICES = (SEEN, HELD)
_HELD_ONE_IN = 3

Value = TypeVar("Value")


def load_rows(name: str) -> list[dict[str, Any]]:
    """Return the cases of a corpus; none where it is not here."""
    path = CORPORA / name
    if not path.exists():
        return []
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines() if line]
    rows: list[dict[str, Any]] = json.loads(path.read_bytes())
    return rows


def load_html(row: dict[str, Any]) -> str:
    """Return the page of a case."""
    packed = (CORPORA / row["html_gz"]).read_bytes()
    return gzip.decompress(packed).decode("utf-8", "replace")


def slice_of(url: str, otherwise: str = "") -> str:
    """Return the slice that a page belongs to, by its site, or by another key without a URL."""
    site = (urlsplit(url).hostname or otherwise).removeprefix("www.")
    number = int.from_bytes(hashlib.sha256(site.encode()).digest()[:4])
    return HELD if number % _HELD_ONE_IN == 0 else SEEN


def by_slice(cases: Iterable[tuple[str, Value]]) -> dict[str, list[Value]]:
    """Group pairs of slice and value by slice."""
    found: dict[str, list[Value]] = {name: [] for name in SLICES}
    for name, value in cases:
        found[name].append(value)
    return found
