"""The body of an archived response, whatever its record looks like."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from messor.archive import warc
from messor.archive.erased_bytes import overwrite
from messor.archive.segments import OpenSegment
from messor.archive.snapshot_content import read_body
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
        (b"HTTP/1.1 200 OK\r\ncontent-LENGTH:\t3 \r\nX-B: 1\r\n\r\nabcdef", b"abc"),
        (b"HTTP/1.1 200 OK\r\nX-A: Content-Length: 1\r\n\r\nabc", b"abc"),
        (b"HTTP/1.1 200 OK\r\nX-Content-Length: 1\r\n\r\nabc", b"abc"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: one\r\nContent-Length: 2\r\n\r\nabc", b"ab"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5_000 + b"\r\n\r\nabc", b"abc"),
        (b"HTTP/1.1 200 OK\r\n\r\nabc\r\nContent-Length: 1", b"abc\r\nContent-Length: 1"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
        (b"HTTP/1.1 204 No Content", b""),
        (b"HTTP/1.1 200 OK\r\n\r\n\x1f\x8bis no gzip", b"\x1f\x8bis no gzip"),
        (
            b"HTTP/1.1 200 OK\r\nX-Content-Encoding: gzip\r\n\r\n\x1f\x8bis no gzip",
            b"\x1f\x8bis no gzip",
        ),
        (b"HTTP/1.1 200 OK\r\nCONTENT-ENCODING: gzip\r\n\r\n" + gzip.compress(BODY), BODY),
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


def test_an_open_segment_is_what_its_file_is(tmp_path: Path) -> None:
    """Appended to, blanked and cut in place; another in its place is seen once it was closed."""
    path, segment = tmp_path / "one", OpenSegment()
    path.write_bytes(b"a" * 100)
    assert segment.read(tmp_path, "one", 90, 10) == b"a" * 10
    with path.open("ab") as file:
        file.write(b"b" * 100)
    assert segment.read(str(tmp_path), "one", 90, 20) == b"a" * 10 + b"b" * 10
    overwrite(path, 0, 100)
    assert b"a" not in segment.read(tmp_path, "one", 0, 100)
    os.truncate(path, 110)
    assert segment.read(tmp_path, "one", 100, 100) == b"b" * 10
    path.unlink()
    path.write_bytes(b"c" * 10)
    segment.close()
    assert segment.read(tmp_path, "one", 0, 10) == b"c" * 10
    segment.close()


def test_one_segment_is_open_at_a_time(tmp_path: Path) -> None:
    def opened() -> list[str]:
        paths = [each.readlink() for each in Path("/proc/self/fd").iterdir() if each.is_file()]
        return [path.name for path in paths if path.parent == tmp_path]

    segment = OpenSegment()
    for name in ("one", "two", "one"):
        (tmp_path / name).write_bytes(name.encode())
        assert segment.read(tmp_path, name, 0, 3) == name.encode()
        assert opened() == [name]
    for _ in range(2):
        with pytest.raises(FileNotFoundError):
            segment.read(tmp_path, "three", 0, 3)
        assert opened() == []
    segment.read(tmp_path, "two", 0, 3)
    segment.close()
    segment.close()
    assert opened() == []
