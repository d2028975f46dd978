"""Hashes: what makes two observations of a page equal.

`content_hash` is over markdown, else cleaned HTML, else raw HTML, so equal content hashes equally
whichever provider fetched it. `data_hash` is over structured data and embedded state: a price may
change only there. `raw_hash` is over the decoded bytes: when it is equal, nothing is parsed.
`shell_hash` is over a page that scripts have yet to fill, without what is random in each response.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any

import msgspec

MAX_JUDGED = 262_144  # of a refusal's body, enough for every known challenge; no more is hashed

_ENCODER = msgspec.json.Encoder(order="sorted")
_NO_DATA = sha256(b"").digest()
_NONCE = re.compile(
    r"""\bnonce\s{0,3}=\s{0,3}(?:"[^"<>]{0,500}"|'[^'<>]{0,500}'|[^\s"'<>]{1,500})""", re.IGNORECASE
)
_TOKEN_TAG = re.compile(
    r"<(?:meta|input)\b[^<>]{0,400}(?:csrf|xsrf|nonce|token)[^<>]{0,400}>", re.IGNORECASE
)
# A quoted value that is nothing but a key: no address, no words.
_KEY = re.compile(r"""(["'])([0-9A-Za-z+_=-][0-9A-Za-z+/_=-]{15,500})\1""")
_HEX = re.compile(r"[0-9A-Fa-f-]+\Z")


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


def shell_hash(html: str) -> bytes:
    """Hash of a shell without comments, nonces, form tokens and random keys."""
    first, *others = html.split("<!--")
    text = first + "".join(part.partition("-->")[2] for part in others)
    text = _KEY.sub(_blank_key, _NONCE.sub("", _TOKEN_TAG.sub("", text)))
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


def _blank_key(found: re.Match[str]) -> str:
    key = found[2]
    is_mixed = any(c.isdigit() for c in key) and key != key.lower() and key != key.upper()
    return '""' if is_mixed or _HEX.match(key) else found[0]
