"""The body of an archived response, whatever its record looks like."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from messor.archive import warc
from messor.archive.reading import read_body
from messor.errors import MessorError, NotFoundError, UnavailableError

BODY = "<p>Größe: 42</p>".encode() * 50
HEAD = b"WARC/1.1\r\nWARC-Type: response\r\n\r\n"


def kept(folder: Path, member: bytes) -> bytes:
    (folder / "segment").write_bytes(b"before" + member + b"after")
    return read_body(folder, "segment", len(b"before"), len(member))


@pytest.mark.parametrize("gzipped", [None, gzip.compress(BODY)])
def test_a_body_comes_back_as_the_site_sent_it(tmp_path: Path, gzipped: bytes | None) -> None:
    headers = [(b"Content-Type", b"text/html"), (b"Content-Encoding", b"gzip")]
    record = warc.response("http://a.test/", 200, "OK", headers, body=BODY, gzipped=gzipped)
    assert kept(tmp_path, record) == BODY


@pytest.mark.parametrize(
    "block, body",
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef\r\n\r\n", b"abc"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nabc", b"abc"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
        (b"HTTP/1.1 204 No Content", b""),
        (b"HTTP/1.1 200 OK\r\n\r\n\x1f\x8bis no gzip", b"\x1f\x8bis no gzip"),
        (
            b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\nContent-Length: 1\r\n\r\n\x1f\x8b",
            b"\x1f",
        ),
    ],
)
def test_a_body_ends_where_its_head_says(tmp_path: Path, block: bytes, body: bytes) -> None:
    assert kept(tmp_path, gzip.compress(HEAD + block)) == body


@pytest.mark.parametrize(
    "member, error",
    [
        (gzip.compress(b""), NotFoundError),
        (gzip.compress(HEAD + b"erased"), NotFoundError),
        (b"no member at all", UnavailableError),
        (gzip.compress(HEAD + b"HTTP/1.1 200 OK\r\n\r\n" + BODY)[:-8] + bytes(8), UnavailableError),
        (
            gzip.compress(
                HEAD + b"HTTP/1.1 200\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8bbroken, broken"
            ),
            UnavailableError,
        ),
    ],
)
def test_what_cannot_be_read_says_why(
    tmp_path: Path, member: bytes, error: type[MessorError]
) -> None:
    with pytest.raises(error, match=r"^The .*\.$"):
        kept(tmp_path, member)


def test_a_segment_of_another_machine_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="archived elsewhere"):
        read_body(tmp_path, "nowhere", 0, 10)
