"""Image tasks: an image is fetched like a page and archived as received.

Only its header is parsed here; extraction links it to its products. Images are fetched once. The
target of a redirect is stored and followed by O-Images; an image that is too large is not kept.
"""

from __future__ import annotations

from messor.archive import hashes
from messor.archive.bodies import Arrival, Bodies
from messor.archive.snapshots import Snapshot
from messor.archive.writer import Writer
from messor.crawl.flush_queue import FlushQueue
from messor.crawl.keep import KEEPING
from messor.crawl.page_result import PageResult
from messor.crawl.rows import clean
from messor.fetch.outcome import WITH_BODY, Fetched, FetchResult, Outcome
from messor.frontier import cadence
from messor.frontier.cadence import Schedule
from messor.frontier.tasks import Task
from messor.ledger.decisions import Decision
from messor.politeness.lanes import Lane
from messor.web.html import PageReading
from messor.web.image_headers import image_header
from messor.web.robots_tags import directives_of
from messor.web.urls import parse

KIND = "image"
MAX_BYTES = 5_000_000

_ONCE = Schedule("completed", None, 0)


class ImageReader:
    """Archives images for one worker."""

    def __init__(self, flush_queue: FlushQueue, archive: Writer, *, agent: str) -> None:
        self._flush_queue = flush_queue
        self._bodies = Bodies(archive)
        self._agent = agent

    def read(self, lane: Lane, task: Task, decision: Decision, fetched: Fetched) -> None:
        """Read a response; one that is not an image only yields an outcome."""
        # Servers send images with any content type; their first bytes decide.
        if fetched.outcome in WITH_BODY:
            fetched.result = self._judge(lane, fetched)
        again = _ONCE
        if fetched.outcome.is_retryable:
            again = cadence.after_failure(task, lane.policy.frequency, fetched.retry_after or 0.0)
        result = PageResult(lane, task, decision, again, fetched)
        if fetched.outcome is Outcome.OK:
            result.raw_hash = hashes.raw_hash(fetched.body)
            if result.raw_hash == task.raw_hash and task.snapshot_id is not None:
                result.final = fetched.result.unchanged()
            else:
                result.snapshot = self._snapshot(result, fetched, result.raw_hash)
        elif fetched.outcome is Outcome.REDIRECTED:
            target = parse(fetched.location or "", task.url)
            if target is None:
                fetched.result = fetched.result.explained("redirect without a valid target")
            else:
                result.moved_to = target.href
        self._flush_queue.put(result)

    def _judge(self, lane: Lane, fetched: Fetched) -> FetchResult:
        """Is it an image that may be kept?"""
        objection = self._objection(lane, fetched)
        if objection is not None:
            return fetched.result.forbidden(objection)
        if len(fetched.body) > MAX_BYTES:
            return fetched.result.too_large(f"the image exceeds {MAX_BYTES} bytes")
        if image_header(fetched.body) is None:
            return fetched.result.empty("not an image in a supported format")
        return fetched.result.accepted()

    def _objection(self, lane: Lane, fetched: Fetched) -> str | None:
        """Why its headers forbid keeping an image, under the domain's terms."""
        directives = directives_of(fetched.raw_headers, PageReading("", ""), self._agent)
        if directives.noindex and lane.policy.directives == "respect":
            return f"the image forbids indexing ({directives.noindex})"
        reserved = KEEPING & directives.reservations.keys()
        if reserved and lane.policy.reservations == "respect":
            return f"rights to the image are reserved ({', '.join(sorted(reserved))})"
        return None

    def _snapshot(self, result: PageResult, fetched: Fetched, digest: bytes) -> Snapshot:
        task, lane = result.task, result.lane
        assert fetched.status is not None
        archived = self._bodies.archive(
            Arrival(
                task.url, fetched.status, fetched.reason, fetched.raw_headers, fetched.body, digest
            )
        )
        return Snapshot(
            page_id=task.page_id,
            host_id=lane.host_id,
            token=lane.token,
            content_hash=digest,
            data_hash=hashes.data_hash(b""),
            raw_hash=digest,
            place=archived.place,
            revisit=archived.revisit,
            size=fetched.size,
            status_code=fetched.status,
            content_type=clean(fetched.content_type),
            title=None,
            description=None,
            language=None,
            markdown="",
            data=None,
            state="new" if task.snapshot_id is None else "changed",
            previous_id=task.snapshot_id,
        )
