from __future__ import annotations

import base64
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messor.web.encodings import decode, encoding_for_label, sniff
from tests.web.nesting_check import KILLER


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
        (b" " * 3_000 + b"<META CHARSET=nonsense><meta charset=koi8-r>", None, "koi8-r"),
        (
            b" " * 3_000 + b'<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">',
            None,
            "koi8-r",
        ),
        (b" " * 3_000 + b"<meta name=charset content=charset=koi8-r>", None, "windows-1252"),
        (b" " * 3_000 + b"<!-- <meta charset=koi8-r> -->", None, "windows-1252"),
        (b" " * 3_000 + b"<script>'<meta charset=koi8-r>'</script>", None, "windows-1252"),
        (b" " * 3_000 + b"<meta charset=utf-16>", None, "utf-8"),
    ],
)
def test_sniff(body: bytes, content_type: str | None, encoding: str) -> None:
    assert sniff(body, content_type) == encoding


def test_decode() -> None:
    assert decode(b"\xef\xbb\xbfx") == ("x", "utf-8")
    assert decode(b"a\xffb", "text/html; charset=utf-8") == ("a\ufffdb", "utf-8")
    assert decode("é".encode("latin-1"), "text/html; charset=latin1") == ("é", "windows-1252")
    assert decode(b"") == ("", "windows-1252")


def test_no_tree_is_made_of_a_page_whose_encoding_is_looked_for() -> None:
    """It would end the process: one of its own."""
    decoding = (
        "import sys; from messor.web.encodings import sniff; print(sniff(sys.stdin.buffer.read()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", decoding],
        input=f"{KILLER} charset".encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout.split()) == (0, [b"windows-1252"])


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
