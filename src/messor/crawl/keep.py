"""Keep: from an answer that was read to what is stored of it.

Content is hashed and archived once, whoever brought it; links are sifted into new pages. A page
that asks not to be kept is not. What a block or a blank page says is kept beside the verdict and
never takes the place of good content.
"""

from __future__ import annotations

from collections import Counter

import msgspec

from messor.archive import hashes
from messor.archive.bodies import Archived, Arrival, Bodies
from messor.archive.segments import SegmentWriter
from messor.archive.snapshots import Snapshot
from messor.crawl.flush_queue import FlushQueue
from messor.crawl.links import LinkFilter, joins_of_redirect
from messor.crawl.page_result import PageResult
from messor.crawl.read import PageReadResult
from messor.crawl.rows import clean
from messor.fetch.outcome import Outcome
from messor.web.robots_tags import PageDirectives, directives_of

SAME_BODY = 3  # pages of a host with the same bytes before they are marked

# Reservations that speak against keeping a page at all; others bind what is done with it later.
KEEPING = frozenset({"tdm-reservation", "content-signal:search"})

_encode = msgspec.json.Encoder().encode


class Keeper:
    """Keeps for one worker."""

    def __init__(
        self, archive: SegmentWriter, inbox: FlushQueue, sieve: LinkFilter, *, agent: str
    ) -> None:
        self._bodies = Bodies(archive)
        self._inbox = inbox
        self._sieve = sieve
        self._agent = agent

    def keep(self, harvest: PageResult, answer: PageReadResult) -> None:
        """Fill the harvest with all that this answer means."""
        fetched = answer.fetched
        if fetched.outcome is Outcome.REDIRECTED:
            self._follow(harvest, answer, fetched.location)
        elif answer.reading is not None:
            self._keep_page(harvest, answer)
        elif fetched.outcome is Outcome.BLOCKED and fetched.body and answer.text:
            harvest.snapshot = self._snapshot(harvest, answer, "blocked")
        harvest.outcome = fetched.outcome

    def _keep_page(self, harvest: PageResult, answer: PageReadResult) -> None:
        fetched, reading = answer.fetched, answer.reading
        assert reading is not None
        said = directives_of(fetched.raw_headers, reading, self._agent)
        robots = harvest.lane.robots_for(harvest.task.url)
        if robots is not None and robots.file.signals:
            for signal, value in robots.file.signals.items():
                if value == "no":
                    said.reservations[f"content-signal:{signal}"] = "robots.txt"
        objection = _objection(harvest, said)
        if not answer.verdict.may_replace:
            harvest.snapshot = self._snapshot(harvest, answer, fetched.outcome)
        elif objection is not None:
            fetched.outcome, fetched.error = Outcome.ROBOTS, objection
            harvest.raw_hash = None
        else:
            harvest.snapshot = self._snapshot(harvest, answer, None, said)
        self._read_links(harvest, answer, said)

    def _read_links(
        self, harvest: PageResult, answer: PageReadResult, said: PageDirectives
    ) -> None:
        reading = answer.reading
        assert reading is not None
        if answer.fetched.outcome not in (Outcome.OK, Outcome.ROBOTS):
            return  # the links of a block or an error page are not the site's
        lane, task = harvest.lane, harvest.task
        if said.nofollow and lane.policy.directives == "respect":
            self._inbox.refuse_links(Counter({(lane.host_id, "nofollow"): len(reading.links)}))
            return
        harvest.found, refused = self._sieve.sift(lane, task, answer.url, reading)
        self._inbox.refuse_links(refused)
        if task.ahead:
            harvest.joins = self._sieve.joins(lane, task, reading)
        if reading.refresh is not None and reading.refresh != task.url:
            self._follow(harvest, answer, reading.refresh)

    def _follow(self, harvest: PageResult, answer: PageReadResult, location: str | None) -> None:
        """A redirect of either kind: its target is a page of its own, within one budget of hops."""
        found, why_not = self._sieve.follow(harvest.lane, harvest.task, location)
        harvest.found += found
        harvest.joins += joins_of_redirect(harvest.task, location)
        if why_not:
            answer.fetched.error = why_not
            if answer.fetched.outcome is Outcome.REDIRECTED and "out of" in why_not:
                answer.fetched.outcome = Outcome.REDIRECTED_OUT

    def _snapshot(
        self,
        harvest: PageResult,
        answer: PageReadResult,
        verdict: str | None,
        said: PageDirectives | None = None,
    ) -> Snapshot:
        lane, task, fetched = harvest.lane, harvest.task, answer.fetched
        reading = answer.reading
        assert fetched.status is not None
        data = hashes.encode_data(reading.structured) if reading else b""
        raw_hash = answer.body_hash or hashes.raw_hash(fetched.body)
        archived = self._archived(harvest, answer, raw_hash)
        return Snapshot(
            page_id=task.page_id,
            host_id=lane.host_id,
            token=lane.token,
            content_hash=hashes.content_hash(
                reading.markdown if reading else "", None, answer.text
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
            signals=_encode(said.reservations).decode() if said and said.reservations else None,
        )

    def _archived(self, harvest: PageResult, answer: PageReadResult, raw_hash: bytes) -> Archived:
        """Where the bytes lie; they are marked where many pages of a host have the same."""
        archived = self._bodies.archive(_arrival(answer, raw_hash))
        pages = archived.body.pages
        pages[harvest.lane.host_id] += 1
        many = pages[harvest.lane.host_id] >= SAME_BODY
        if many and answer.fetched.gate in (None, "size", "text_ratio"):
            answer.fetched.gate = "duplicate"
        return archived


def _arrival(answer: PageReadResult, raw_hash: bytes) -> Arrival:
    fetched = answer.fetched
    assert fetched.status is not None
    as_it_came = fetched.keeps_gzip or fetched.body is fetched.wire
    return Arrival(
        answer.url.href,
        fetched.status,
        fetched.reason,
        fetched.raw_headers,
        fetched.body,
        raw_hash,
        fetched.wire if fetched.keeps_gzip else None,
        fetched.wire_digest if as_it_came else None,
    )


def _objection(harvest: PageResult, said: PageDirectives) -> str | None:
    """Why a page may not be kept by what it says of itself, under the domain's terms."""
    policy = harvest.lane.policy
    if said.noindex and policy.directives == "respect":
        return f"the page asks not to be indexed ({said.noindex})"
    reserved = KEEPING & said.reservations.keys()
    if reserved and policy.reservations == "respect":
        return f"the page reserves its rights ({', '.join(sorted(reserved))})"
    return None
