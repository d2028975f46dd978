"""Keep: turns a parsed response into what is stored of it.

Content is hashed and archived once, whichever provider delivered it; links are filtered into new
pages. A page whose directives forbid keeping it is not kept. A block or empty page is stored with
its verdict and never replaces good content.
"""

from __future__ import annotations

from collections import Counter

import msgspec

from messor.archive import hashes
from messor.archive.bodies import Archived, Arrival, Bodies
from messor.archive.snapshots import Snapshot
from messor.archive.writer import Writer
from messor.crawl.flush_queue import FlushQueue
from messor.crawl.links import LinkFilter, joins_of_redirect
from messor.crawl.page_result import PageResult
from messor.crawl.read import PageReadResult
from messor.crawl.rows import clean
from messor.fetch.outcome import Outcome
from messor.web.robots_tags import PageDirectives, directives_of

SAME_BODY = 3  # pages of a host with the same bytes before they fail the gate `duplicate`

# Reservations that forbid keeping a page at all; others restrict its later use.
KEEPING = frozenset({"tdm-reservation", "content-signal:search"})

_encode = msgspec.json.Encoder().encode


class Keeper:
    """Stores pages for one worker."""

    def __init__(
        self,
        archive: Writer,
        flush_queue: FlushQueue,
        link_filter: LinkFilter,
        *,
        agent: str,
    ) -> None:
        self._bodies = Bodies(archive)
        self._flush_queue = flush_queue
        self._link_filter = link_filter
        self._agent = agent

    def keep(self, result: PageResult, read_result: PageReadResult) -> None:
        """Complete the page result from a parsed response."""
        fetched = read_result.fetched
        if fetched.outcome is Outcome.REDIRECTED:
            self._follow(result, read_result, fetched.location)
        elif read_result.reading is not None:
            self._keep_page(result, read_result)
        elif fetched.outcome is Outcome.BLOCKED and fetched.body and read_result.text:
            result.snapshot = self._snapshot(result, read_result, "blocked")

    def _keep_page(self, result: PageResult, read_result: PageReadResult) -> None:
        fetched, reading = read_result.fetched, read_result.reading
        assert reading is not None
        directives = directives_of(fetched.raw_headers, reading, self._agent)
        robots = result.lane.robots_for(result.task.url)
        if robots is not None and robots.file.signals:
            for signal, value in robots.file.signals.items():
                if value == "no":
                    directives.reservations[f"content-signal:{signal}"] = "robots.txt"
        objection = _objection(result, directives)
        if not read_result.verdict.may_replace:
            result.snapshot = self._snapshot(result, read_result, fetched.outcome)
        elif objection is not None:
            fetched.result = fetched.result.forbidden(objection)
            result.raw_hash = None
        else:
            result.snapshot = self._snapshot(result, read_result, None, directives)
        self._read_links(result, read_result, directives)

    def _read_links(
        self, result: PageResult, read_result: PageReadResult, directives: PageDirectives
    ) -> None:
        reading = read_result.reading
        assert reading is not None
        if read_result.fetched.outcome not in (Outcome.OK, Outcome.ROBOTS):
            return  # links of a block or error page are not the site's
        lane, task = result.lane, result.task
        if directives.nofollow and lane.policy.directives == "respect":
            self._flush_queue.refuse_links(
                Counter({(lane.host_id, "nofollow"): len(reading.links)})
            )
            return
        result.found, refused = self._link_filter.filter_links(lane, task, read_result.url, reading)
        self._flush_queue.refuse_links(refused)
        if task.ahead:
            result.joins = self._link_filter.joins(lane, task, reading)
        if reading.refresh is not None and reading.refresh != task.url:
            self._follow(result, read_result, reading.refresh)

    def _follow(
        self, result: PageResult, read_result: PageReadResult, location: str | None
    ) -> None:
        """Follow a redirect, by status or by markup: its target is a separate page, hops are limited."""
        target = self._link_filter.follow(result.lane, result.task, location)
        result.found += target.pages
        result.joins += joins_of_redirect(result.task, location)
        if target.error:
            fetched = read_result.fetched
            fetched.result = fetched.result.explained(target.error)
            if target.leaves_domain:
                fetched.result = fetched.result.left_domain()

    def _snapshot(
        self,
        result: PageResult,
        read_result: PageReadResult,
        verdict: str | None,
        directives: PageDirectives | None = None,
    ) -> Snapshot:
        lane, task, fetched = result.lane, result.task, read_result.fetched
        reading = read_result.reading
        assert fetched.status is not None
        data = hashes.encode_data(reading.structured) if reading else b""
        raw_hash = read_result.body_hash or hashes.raw_hash(fetched.body)
        archived = self._archived(result, read_result, raw_hash)
        return Snapshot(
            page_id=task.page_id,
            host_id=lane.host_id,
            token=lane.token,
            content_hash=hashes.content_hash(
                reading.markdown if reading else "", None, read_result.text
            ),
            data_hash=hashes.data_hash(data),
            raw_hash=raw_hash,
            place=archived.place,
            revisit=archived.revisit,
            size=fetched.size,
            status_code=fetched.status,
            content_type=clean(fetched.content_type),
            title=(reading.title or None) if reading else None,
            description=(reading.description or None) if reading else None,
            language=(reading.language or None) if reading else None,
            markdown=reading.markdown if reading else "",
            data=data.decode() if data else None,
            state="new" if task.snapshot_id is None else "changed",
            previous_id=task.snapshot_id,
            provider=fetched.provider,
            verdict=verdict,
            signals=_encode(directives.reservations).decode()
            if directives and directives.reservations
            else None,
        )

    def _archived(
        self, result: PageResult, read_result: PageReadResult, raw_hash: bytes
    ) -> Archived:
        """Archive the bytes; flag them as duplicate if many pages of the host share them."""
        archived = self._bodies.archive(_arrival(read_result, raw_hash))
        pages = archived.body.pages
        pages[result.lane.host_id] += 1
        many = pages[result.lane.host_id] >= SAME_BODY
        if many and read_result.fetched.gate in (None, "size", "text_ratio"):
            read_result.fetched.gate = "duplicate"
        return archived


def _arrival(read_result: PageReadResult, raw_hash: bytes) -> Arrival:
    fetched = read_result.fetched
    assert fetched.status is not None
    as_it_came = fetched.keeps_gzip or fetched.body is fetched.wire
    return Arrival(
        read_result.url.href,
        fetched.status,
        fetched.reason,
        fetched.raw_headers,
        fetched.body,
        raw_hash,
        fetched.wire if fetched.keeps_gzip else None,
        fetched.wire_digest if as_it_came else None,
    )


def _objection(result: PageResult, directives: PageDirectives) -> str | None:
    """Why a page's directives forbid keeping it, under the domain's terms."""
    policy = result.lane.policy
    if directives.noindex and policy.directives == "respect":
        return f"the page forbids indexing ({directives.noindex})"
    reserved = KEEPING & directives.reservations.keys()
    if reserved and policy.reservations == "respect":
        return f"the page reserves its rights ({', '.join(sorted(reserved))})"
    return None
