"""WARC records as another program reads them, and the hashes that name their bytes."""

from __future__ import annotations

import gzip
import io
import zlib
from hashlib import sha256
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

from messor.archive import hashes, warc
from messor.fetch.content_decoding import decode_content
from messor.fetch.wire import digest_of

URL = "http://one.test/?a=1"
BODY = "<p>Grüße, a page of some length.</p>".encode() * 40


def read(*members: bytes) -> list[Any]:
    """Records as warcio sees them, their content read."""
    found = []
    for record in ArchiveIterator(io.BytesIO(b"".join(members)), check_digests="raise"):
        record.content = record.content_stream().read()
        found.append(record)
    return found


@pytest.mark.parametrize(
    "headers, wire",
    [
        (((b"Content-Encoding", b"gzip"),), gzip.compress(BODY)),
        (((b"Content-Encoding", b"X-GZIP"),), gzip.compress(BODY)),
        (((b"content-encoding", b"deflate"),), zlib.compress(BODY)),
        (((b"Content-Encoding", b"deflate"),), zlib.compress(BODY, wbits=-15)),
        (((b"Content-Encoding", b"identity"),), BODY),
        (((b"Transfer-Encoding", b"chunked"),), BODY),
        (((b"Transfer-Encoding", b"chunked"), (b"Content-Encoding", b"gzip")), gzip.compress(BODY)),
        ((), BODY),
        (((b"Content-Length", b"999999"),), BODY),
        (((b"Content-Encoding", b"gzip"),), gzip.compress(BODY[:99]) + gzip.compress(BODY[99:])),
    ],
    ids=[
        "gzip",
        "x-gzip",
        "deflate",
        "raw-deflate",
        "identity",
        "chunked",
        "chunked-gzip",
        "plain",
        "length",
        "members",
    ],
)
def test_any_tool_reads_the_decoded_body(
    headers: tuple[tuple[bytes, bytes], ...], wire: bytes
) -> None:
    encoding = {n.lower(): v for n, v in headers}.get(b"content-encoding", b"").decode()
    decoded = decode_content(wire, encoding, 10**6)
    assert decoded.body == BODY
    gzipped = wire if decoded.plain_gzip else None
    (found,) = read(warc.response(URL, 200, "OK", headers, body=BODY, gzipped=gzipped))
    assert found.rec_type == "response"
    assert found.rec_headers.get_header("WARC-Target-URI") == URL
    assert found.http_headers.get_statuscode() == "200"
    assert sha256(found.content).digest() == hashes.raw_hash(BODY)


def test_a_gzipped_body_is_kept_as_it_came() -> None:
    wire = gzip.compress(BODY)
    record = warc.response(
        URL, 200, "OK", ((b"Content-Encoding", b"gzip"),), body=BODY, gzipped=wire
    )
    assert wire in gzip.decompress(record)


@pytest.mark.parametrize("gzipped", [None, gzip.compress(BODY)], ids=["plain", "gzip"])
def test_a_digest_that_is_known_need_not_be_computed(gzipped: bytes | None) -> None:
    digest = digest_of(gzipped or BODY)
    records = [
        warc.response(URL, 200, "OK", (), body=BODY, gzipped=gzipped, digest=given)
        for given in (digest, None)
    ]
    known, computed = (
        found.rec_headers.get_header("WARC-Payload-Digest") for found in read(*records)
    )
    assert known == computed == f"sha1:{digest.hex()}"


def test_what_framing_changed_is_renamed() -> None:
    headers = ((b"Transfer-Encoding", b"chunked"), (b"X-Kept", b"yes"))
    (found,) = read(warc.response(URL, 200, "OK", headers, body=BODY))
    assert found.http_headers.get_header("X-Archive-Orig-Transfer-Encoding") == "chunked"
    assert found.http_headers.get_header("Transfer-Encoding") is None
    assert found.http_headers.get_header("Content-Length") == str(len(BODY))
    assert found.http_headers.get_header("X-Kept") == "yes"


@pytest.mark.parametrize(
    "size", [0, 1, 0xFFFF - 700, 0xFFFF, 0x10000, 3 * 0xFFFF], ids="{:#x}".format
)
def test_stored_members_of_any_size_are_sound(size: int) -> None:
    body = bytes(size)
    wire = gzip.compress(body, 0)
    (found,) = read(
        warc.response(URL, 200, "OK", ((b"Content-Encoding", b"gzip"),), body=body, gzipped=wire)
    )
    assert found.content == body


@pytest.mark.parametrize("length", range(0xFFFF - 4, 0xFFFF + 5))
def test_stored_members_at_the_edge_of_a_block(length: int) -> None:
    block = b"x" * length
    assert gzip.decompress(warc._stored_member(block)) == block


def test_a_segment_is_a_file_of_members() -> None:
    records = [warc.response(f"{URL}{n}", 200, "OK", (), body=BODY) for n in range(20)]
    found = read(warc.warcinfo("Messor/1"), *records)
    assert [record.rec_type for record in found] == ["warcinfo"] + ["response"] * 20
    ids = {record.rec_headers.get_header("WARC-Record-ID") for record in found}
    assert len(ids) == 21


@pytest.mark.parametrize("reason", ["", "Très bien", "\udcff", "O\r\nK"])
def test_an_odd_reason_does_not_break_the_record(reason: str) -> None:
    (found,) = read(warc.response(URL, 200, reason, ((b"X-Kept", b"yes"),), body=BODY))
    assert found.http_headers.get_header("X-Kept") == "yes"
    assert found.content == BODY


def test_raw_bytes_in_headers_are_kept() -> None:
    headers = ((b"Content-Type", b"text/html; charset=\xff"),)
    record = warc.response(URL, 200, "OK", headers, body=BODY)
    assert b"charset=\xff" in gzip.decompress(record)


def test_content_hash_falls_back_in_order() -> None:
    by_markdown = hashes.content_hash("text", "<p>text", "<html>")
    assert by_markdown == sha256(b"text").digest() == hashes.content_hash("text", None, "other")
    assert hashes.content_hash("", "<p>text", "<html>") == sha256(b"<p>text").digest()
    assert hashes.content_hash(None, None, "<html>") == sha256(b"<html>").digest()
    assert hashes.content_hash(None, None, "lone \ud800") != hashes.content_hash(None, None, "")


def test_data_hash_does_not_depend_on_order() -> None:
    one, other = {"b": 1, "a": [1, {"y": 2, "x": 1}]}, {"a": [1, {"x": 1, "y": 2}], "b": 1}
    assert hashes.data_hash(hashes.encode_data(one)) == hashes.data_hash(hashes.encode_data(other))
    assert hashes.data_hash(hashes.encode_data({"a": [2, 1]})) != hashes.data_hash(
        hashes.encode_data({"a": [1, 2]})
    )
    assert hashes.data_hash(hashes.encode_data([])) == hashes.data_hash(b"")
