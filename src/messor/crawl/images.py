"""Image tasks: a picture is fetched like any page, and kept as it came when it is one.

Whether its size is told by its header is all that is looked at here; what products it belongs to is
written when it is extracted. Pictures are fetched once. Where one has moved is kept with its redirect
and followed by O-Images; one that is too large is not kept.
"""

from __future__ import annotations

from messor.archive import hashes
from messor.archive.bodies import Arrival, Bodies
from messor.archive.segments import SegmentWriter
from messor.archive.snapshots import Snapshot
from messor.crawl.flush_queue import FlushQueue
from messor.crawl.keep import KEEPING
from messor.crawl.page_result import PageResult
from messor.crawl.rows import clean
from messor.fetch.outcome import RETRYABLE, Fetched, Outcome
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

# Servers type pictures as anything; their first bytes tell.
_READABLE = frozenset({Outcome.OK, Outcome.NOT_HTML})
_ONCE = Schedule("completed", None, 0)


class ImageReader:
    """Keeps pictures for one worker."""

    def __init__(self, inbox: FlushQueue, archive: SegmentWriter, *, agent: str) -> None:
        self._inbox = inbox
        self._bodies = Bodies(archive)
        self._agent = agent

    def read(self, lane: Lane, task: Task, decision: Decision, fetched: Fetched) -> None:
        """Take in an answer; what is no picture is an outcome, and nothing of it is kept."""
        if fetched.outcome in _READABLE:
            self._judge(lane, fetched)
        again = _ONCE
        if fetched.outcome in RETRYABLE:
            again = cadence.after_failure(task, lane.policy.frequency, fetched.retry_after or 0.0)
        harvest = PageResult(lane, task, decision, again, fetched.outcome, fetched)
        if fetched.outcome is Outcome.OK:
            harvest.raw_hash = hashes.raw_hash(fetched.body)
            if harvest.raw_hash == task.raw_hash and task.snapshot_id is not None:
                harvest.outcome = Outcome.UNCHANGED
            else:
                harvest.snapshot = self._snapshot(harvest, fetched, harvest.raw_hash)
        elif fetched.outcome is Outcome.REDIRECTED:
            target = parse(fetched.location or "", task.url)
            if target is None:
                fetched.error = "redirected to nowhere"
            else:
                harvest.moved_to = target.href
        self._inbox.put(harvest)

    def _judge(self, lane: Lane, fetched: Fetched) -> None:
        """Whether there is a picture that may be kept."""
        objection = self._objection(lane, fetched)
        if objection is not None:
            fetched.outcome, fetched.error = Outcome.ROBOTS, objection
        elif len(fetched.body) > MAX_BYTES:
            fetched.outcome = Outcome.TOO_LARGE
            fetched.error = f"the picture is more than {MAX_BYTES} bytes"
        elif image_header(fetched.body) is None:
            fetched.outcome, fetched.error = Outcome.EMPTY, "this is not a picture we know"
        else:
            fetched.outcome = Outcome.OK

    def _objection(self, lane: Lane, fetched: Fetched) -> str | None:
        """Why a picture may not be kept by what its headers say, under the domain's terms."""
        said = directives_of(fetched.raw_headers, PageReading("", ""), self._agent)
        if said.noindex and lane.policy.directives == "respect":
            return f"the picture asks not to be indexed ({said.noindex})"
        reserved = KEEPING & said.reservations.keys()
        if reserved and lane.policy.reservations == "respect":
            return f"the picture's rights are reserved ({', '.join(sorted(reserved))})"
        return None

    def _snapshot(self, harvest: PageResult, fetched: Fetched, digest: bytes) -> Snapshot:
        task, lane = harvest.task, harvest.lane
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
