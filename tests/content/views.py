"""What the tests of records share: pages made of a few lines, and records as plain values."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from messor.content.kinds import KINDS
from messor.content.memory import Memory
from messor.content.records import Record, unsupported
from messor.content.view import PageView

CORPORA = Path(__file__).resolve().parents[3] / "shared" / "corpora"


def view(
    body: str,
    url: str = "https://example.com/page",
    *,
    head: str = "",
    lang: str = "en",
    memory: Memory | None = None,
) -> PageView:
    """A page with this body."""
    return PageView.of(
        f'<!DOCTYPE html>\r\n<html lang="{lang}"><head><meta charset="utf-8">{head}</head>\r\n'
        f"<body>{body}</body></html>",
        url,
        memory=memory,
    )


def found(find: Callable[[PageView], list[Record]], page: PageView) -> list[dict[str, Any]]:
    """The values of the records a reader finds, each checked against its schema and the page."""
    records = find(page)
    for record in records:
        assert unsupported(record, page.source.text) == []
        assert KINDS[record.kind].problems(record) == []
        assert 0 < record.confidence <= 1
    return [{name: field.value for name, field in record.fields.items()} for record in records]


def corpus_pages(name: str) -> Iterator[tuple[str, str]]:
    """URL and decoded text of the pages of a corpus; skips the test where it is not there."""
    listing = CORPORA / f"{name}_zyte.json"
    if not listing.exists():
        pytest.skip(f"the external cases ({name}) are not here")
    for row in json.loads(listing.read_bytes()):
        data = gzip.decompress((CORPORA / row["html_gz"]).read_bytes())
        yield row["url"], data.decode("utf-8", "replace")
