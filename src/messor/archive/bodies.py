"""Bodies: each writer archives the same bytes once, and every URL that had them gets a record.

The first URL gets the bytes, any other a `revisit` record that refers to them, and so does the same
URL when it responds with another status. Bytes are the same when both the hash of the decoded body
and the digest of the stored payload match; provider and host do not matter.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from dataclasses import dataclass, field

from messor.archive import warc
from messor.archive.segments import Place
from messor.archive.warc import Headers, Original
from messor.archive.writer import Writer

REMEMBERED = 5_000  # bodies that are not archived again


@dataclass(slots=True)
class Arrival:
    """A response to be archived."""

    url: str
    status: int
    reason: str
    headers: Headers
    body: bytes
    raw_hash: bytes  # of the decoded body
    gzipped: bytes | None = None  # the body as received, where it is stored that way
    digest: bytes | None = None  # SHA-1 of the stored payload, where known

    @property
    def payload(self) -> bytes:
        return self.body if self.gzipped is None else self.gzipped


@dataclass(slots=True)
class ArchivedBody:
    """Bytes that are in the archive."""

    place: Place
    original: Original
    status: int  # the record's own
    pages: Counter[int] = field(default_factory=Counter)  # that had them, by host


@dataclass(slots=True)
class Archived:
    """Location of a response's bytes, and its own record where the bytes belong to another."""

    body: ArchivedBody
    revisit: Place | None

    @property
    def place(self) -> Place:
        return self.body.place


class Bodies:
    """Archives for one writer, which remembers its latest bodies."""

    def __init__(self, archive: Writer, remembered: int = REMEMBERED) -> None:
        self._archive = archive
        self._remembered = remembered
        self._bodies: OrderedDict[bytes, ArchivedBody] = OrderedDict()

    def archive(self, arrival: Arrival) -> Archived:
        """Write what is not archived yet; it is on disk after the writer's next sync."""
        payload = arrival.payload
        digest = arrival.digest or warc.payload_digest(payload)
        key = arrival.raw_hash + digest
        known = self._bodies.get(key)
        if known is None or not self._archive.has(known.place):
            return Archived(self._add(key, arrival, digest), None)
        if known.original.url == arrival.url and known.status == arrival.status:
            return Archived(known, None)
        record = warc.revisit(
            arrival.url,
            arrival.status,
            arrival.reason,
            arrival.headers,
            original=known.original,
            length=len(payload),
            packed=arrival.gzipped is not None,
        )
        return Archived(known, self._archive.append(record))

    def _add(self, key: bytes, arrival: Arrival, digest: bytes) -> ArchivedBody:
        packed, payload = arrival.gzipped is not None, arrival.payload
        head = warc.http_head(
            arrival.status, arrival.reason, arrival.headers, len(payload), packed=packed
        )
        original = Original(arrival.url, warc.now(), digest)
        record = warc.full(original, head, payload, packed=packed)
        body = self._bodies[key] = ArchivedBody(
            self._archive.append(record), original, arrival.status
        )
        if len(self._bodies) > self._remembered:
            self._bodies.popitem(last=False)
        return body
