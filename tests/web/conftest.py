"""External cases lie beside the checkout, where they are; tests that need them are skipped without."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

CORPORA = Path(__file__).resolve().parents[3] / "shared" / "corpora"


@pytest.fixture
def corpus() -> Callable[[str], Any]:
    """Reads a corpus file by name: rows of a .jsonl, the value of a .json or .json.gz."""

    def load(name: str) -> Any:
        path = CORPORA / name
        if not path.exists():
            pytest.skip(f"the external cases ({name}) are not here")
        if name.endswith(".jsonl"):
            return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
        data = path.read_bytes()
        return json.loads(gzip.decompress(data) if name.endswith(".gz") else data)

    return load


def real_pages() -> Iterator[tuple[str, bytes]]:
    """All pages of the corpora: where each lies, and its bytes."""
    for path in sorted(CORPORA.glob("*_html/*.html.gz")):
        yield str(path.relative_to(CORPORA)), gzip.decompress(path.read_bytes())
    for name in ("spa_shells.jsonl", "block_pages.jsonl", "structured_extruct.jsonl"):
        path = CORPORA / name
        for line in path.read_text().splitlines() if path.exists() else ():
            row = json.loads(line)
            yield f"{name} {row.get('id')}", str(row.get("html") or "").encode()
