from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messor.web.encodings import decode, encoding_for_label, sniff


@pytest.mark.parametrize(
    "body, content_type, encoding",
    [
        (b"\xef\xbb\xbfx", "text/html; charset=latin1", "utf-8"),
        (b"\xff\xfex\x00", None, "utf-16le"),
        (b"<meta charset=utf-8>", "text/html; charset=ISO-8859-1", "windows-1252"),
        (b"<meta charset=koi8-r>", "text/html; charset=nonsense", "koi8-r"),
        (b"<meta charset=koi8-r>", 'text/html;charset="UTF-8"', "utf-8"),
        ("naïve".encode(), None, "utf-8"),
        (b"plain", None, "windows-1252"),
        ("<p>hello there".encode("utf-16-le"), None, "utf-16le"),
        ("<p>hello there".encode("utf-16-be"), None, "utf-16be"),
        ("Привет, как дела? Всё хорошо, спасибо.".encode("cp1251"), None, "windows-1251"),
        (b" " * 3_000 + b'<meta charset="shift_jis">', None, "shift_jis"),
    ],
)
def test_sniff(body: bytes, content_type: str | None, encoding: str) -> None:
    assert sniff(body, content_type) == encoding


def test_decode() -> None:
    assert decode(b"\xef\xbb\xbfx") == ("x", "utf-8")
    assert decode(b"a\xffb", "text/html; charset=utf-8") == ("a\ufffdb", "utf-8")
    assert decode("é".encode("latin-1"), "text/html; charset=latin1") == ("é", "windows-1252")
    assert decode(b"") == ("", "windows-1252")


def test_labels() -> None:
    assert encoding_for_label(" Latin1 ") == "windows-1252"
    assert encoding_for_label("klingon") is None


@given(st.binary(max_size=300), st.one_of(st.none(), st.text(max_size=20)))
def test_nothing_raises(body: bytes, charset: str | None) -> None:
    text, _ = decode(body, charset and f"text/html; charset={charset}")
    text.encode()


def test_html5lib_cases(corpus: Callable[[str], Any]) -> None:
    rows = corpus("encoding_html5lib.jsonl")
    right = sum(
        sniff(base64.b64decode(row["body_b64"]), row["content_type_header"]) == row["encoding"]
        for row in rows
    )
    assert right / len(rows) >= 0.95
