"""Keep and read: from what a fetch brought to what is stored of it.

An answer whose bytes are the same as last time is not parsed. A new one is hashed, archived and
read; its links are sifted into new pages.
"""

from __future__ import annotations

from collections import Counter

from messor.archive import hashing, warc
from messor.archive.segments import SegmentWriter
from messor.archive.snapshots import Snapshot
from messor.engine.harvest import Harvest
from messor.engine.inbox import Inbox
from messor.engine.links import LinkSieve
from messor.engine.rows import clean
from messor.fetch.outcome import Fetched, Outcome
from messor.web.encodings import decode
from messor.web.html import PageReading, TooComplexError, read_page
from messor.web.urls import LinkCache, LinkResolver, parse

KNOWN_LINKS = 8_000  # resolved hrefs a worker remembers


class Keeper:
    """Keeps and reads for one worker."""

    def __init__(
        self, archive: SegmentWriter, inbox: Inbox, sieve: LinkSieve, *, agent: str
    ) -> None:
        self._archive = archive
        self._inbox = inbox
        self._sieve = sieve
        self._agent = agent
        self._links = LinkCache(KNOWN_LINKS)

    def keep(self, harvest: Harvest, fetched: Fetched) -> None:
        """Fill the harvest with all that this answer means."""
        lane, task = harvest.lane, harvest.task
        if fetched.outcome is Outcome.REDIRECTED:
            harvest.found, fetched.error = self._sieve.follow(lane, task, fetched.location)
        elif fetched.outcome is Outcome.OK:
            harvest.raw_hash = hashing.raw_hash(fetched.body)
            if harvest.raw_hash == task.raw_hash and task.snapshot_id is not None:
                harvest.outcome = Outcome.UNCHANGED
            else:
                self._read(harvest, fetched)

    def _read(self, harvest: Harvest, fetched: Fetched) -> None:
        task = harvest.task
        text, _ = decode(fetched.body, fetched.content_type)
        url = parse(task.url)
        assert url is not None, "tasks hold web addresses"
        try:
            reading = read_page(
                text,
                task.url,
                resolver=LinkResolver(url, self._links),
                agent=self._agent,
                known=self._sieve.known_hrefs(url),
            )
        except TooComplexError as error:
            harvest.outcome, fetched.error = Outcome.TOO_COMPLEX, str(error)
            return
        harvest.snapshot = self._snapshot(harvest, fetched, text, reading)
        if reading.nofollow or _header_nofollow(fetched, self._agent):
            counted = Counter({(harvest.lane.host_id, "nofollow"): len(reading.links)})
        else:
            harvest.found, counted = self._sieve.sift(harvest.lane, task, url, reading)
        self._inbox.refuse_links(counted)

    def _snapshot(
        self, harvest: Harvest, fetched: Fetched, text: str, reading: PageReading
    ) -> Snapshot:
        lane, task = harvest.lane, harvest.task
        assert fetched.status is not None
        assert harvest.raw_hash is not None
        data = hashing.encode_data(reading.structured)
        record = warc.response(
            task.url,
            fetched.status,
            fetched.reason,
            fetched.raw_headers,
            body=fetched.body,
            gzipped=fetched.wire if fetched.keeps_gzip else None,
        )
        return Snapshot(
            page_id=task.page_id,
            host_id=lane.host_id,
            token=lane.token,
            content_hash=hashing.content_hash(reading.markdown, None, text),
            data_hash=hashing.data_hash(data),
            raw_hash=harvest.raw_hash,
            place=self._archive.append(record),
            size=fetched.size,
            status_code=fetched.status,
            content_type=clean(fetched.content_type),
            title=reading.title or None,
            description=reading.description or None,
            language=reading.language or None,
            markdown=reading.markdown,
            data=data.decode() if data else None,
            state="new" if task.snapshot_id is None else "changed",
            previous_id=task.snapshot_id,
        )


def _header_nofollow(fetched: Fetched, agent: str) -> bool:
    """Whether X-Robots-Tag asks us, by name or among all, not to follow links."""
    tag = fetched.headers.get("X-Robots-Tag")
    if not tag:
        return False
    name, colon, rest = tag.lower().partition(":")
    if colon and name.strip() not in (agent.lower(), "robots"):
        return False
    words = (rest if colon else name).replace(",", " ").split()
    return "nofollow" in words or "none" in words
