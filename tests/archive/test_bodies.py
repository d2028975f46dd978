"""Bytes are archived once; each address, and each status of an address, has a record of its own."""

from __future__ import annotations

import gzip
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from messor.archive.bodies import Arrival, Bodies
from messor.archive.segments import SegmentWriter
from messor.store.database import Database

BODY = b"<p>the same words</p>" * 20


PACKED = gzip.compress(BODY)


def arrival(url: str, status: int, gzipped: bytes | None = None) -> Arrival:
    headers = [(b"Content-Type", b"text/html")]
    if gzipped is not None:
        headers.append((b"Content-Encoding", b"gzip"))
    return Arrival(url, status, "Any", headers, BODY, sha256(BODY).digest(), gzipped)


@pytest.fixture
async def writer(database: Database, tmp_path: Path) -> SegmentWriter:
    await database.fetch(
        """INSERT INTO messor.worker_leases (name, expires_at)
           VALUES ('w', messor.clock() + interval '1 h')"""
    )
    lease = await database.fetchval("SELECT id FROM messor.worker_leases")
    writer = SegmentWriter(
        tmp_path, database, worker_id=lease, name="w", limit=10**9, software="Messor/1"
    )
    await writer.ready()
    return writer


async def test_the_same_bytes_under_another_status_have_a_record_of_their_own(
    writer: SegmentWriter, tmp_path: Path
) -> None:
    bodies = Bodies(writer)
    refused = bodies.archive(arrival("http://one.test/", 403))
    allowed = bodies.archive(arrival("http://one.test/", 200))
    again = bodies.archive(arrival("http://one.test/", 403))
    await writer.seal()
    assert refused.place == allowed.place == again.place
    assert refused.revisit is None
    assert again.revisit is None
    assert allowed.revisit is not None
    assert statuses(tmp_path) == [("response", "403"), ("revisit", "200")]


async def test_the_same_text_sent_in_other_bytes_is_stored_as_it_was_sent(
    writer: SegmentWriter, tmp_path: Path
) -> None:
    """A `revisit` says how its body is packed: it cannot refer to bytes that are packed otherwise."""
    bodies = Bodies(writer)
    plain = bodies.archive(arrival("http://one.test/", 200))
    packed = bodies.archive(arrival("http://two.test/", 200, PACKED))
    third = bodies.archive(arrival("http://three.test/", 200, PACKED))
    await writer.seal()
    assert plain.place != packed.place == third.place
    assert [each.revisit is None for each in (plain, packed, third)] == [True, True, False]
    assert bodies_of(tmp_path) == [BODY, BODY]


def statuses(folder: Path) -> list[tuple[str, str]]:
    (segment,) = folder.rglob("*.warc.gz")
    return [
        (record.rec_type, record.http_headers.get_statuscode())
        for record in ArchiveIterator(BytesIO(segment.read_bytes()))
        if record.http_headers is not None
    ]


def bodies_of(folder: Path) -> list[bytes]:
    (segment,) = folder.rglob("*.warc.gz")
    return [
        record.content_stream().read()
        for record in ArchiveIterator(BytesIO(segment.read_bytes()))
        if record.rec_type == "response"
    ]
