"""Bytes are archived once; each address, and each status of an address, has a record of its own."""

from __future__ import annotations

from hashlib import sha256
from io import BytesIO
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator

from messor.archive.bodies import Arrival, Bodies
from messor.archive.segments import SegmentWriter
from messor.store.database import Database

BODY = b"<p>the same words</p>" * 20


def arrival(url: str, status: int) -> Arrival:
    return Arrival(
        url, status, "Any", ((b"Content-Type", b"text/html"),), BODY, sha256(BODY).digest()
    )


async def test_the_same_bytes_under_another_status_have_a_record_of_their_own(
    database: Database, tmp_path: Path
) -> None:
    await database.fetch(
        """INSERT INTO messor.worker_leases (name, expires_at)
           VALUES ('w', messor.clock() + interval '1 h')"""
    )
    lease = await database.fetchval("SELECT id FROM messor.worker_leases")
    writer = SegmentWriter(
        tmp_path, database, worker_id=lease, name="w", limit=10**9, software="Messor/1"
    )
    await writer.ready()
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


def statuses(folder: Path) -> list[tuple[str, str]]:
    (segment,) = folder.rglob("*.warc.gz")
    return [
        (record.rec_type, record.http_headers.get_statuscode())
        for record in ArchiveIterator(BytesIO(segment.read_bytes()))
        if record.http_headers is not None
    ]
