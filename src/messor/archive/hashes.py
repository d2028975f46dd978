"""Hashes: what makes two observations of a page equal.

`content_hash` is over markdown, else cleaned HTML, else raw HTML, so equal content hashes equally
whichever provider fetched it. `data_hash` is over structured data and embedded state: a price may
change only there. `raw_hash` is over the decoded bytes: when it is equal, nothing is parsed.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import msgspec

MAX_JUDGED = 262_144  # of a refusal's body, enough for every known challenge; no more is hashed

_ENCODER = msgspec.json.Encoder(order="sorted")
_NO_DATA = sha256(b"").digest()


def raw_hash(body: bytes) -> bytes:
    return sha256(body).digest()


def content_hash(markdown: str | None, cleaned_html: str | None, raw_html: str) -> bytes:
    for text in (markdown, cleaned_html):
        if text:
            return sha256(text.encode()).digest()
    return sha256(raw_html.encode("utf-8", "surrogatepass")).digest()


def encode_data(data: Any) -> bytes:
    """Structured data as canonical JSON; empty when there is none."""
    return _ENCODER.encode(data) if data else b""


def data_hash(encoded: bytes) -> bytes:
    return sha256(encoded).digest() if encoded else _NO_DATA
