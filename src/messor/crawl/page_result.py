"""The page result: what a visit hands to the flush, one per task, whatever the outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from messor.archive.snapshots import Presence, Snapshot
from messor.fetch.error_category import category_of
from messor.fetch.outcome import GOOD, OK, Fetched, FetchResult, Outcome, failed
from messor.frontier.cadence import Schedule
from messor.frontier.pages import NewPage
from messor.frontier.runs import Join
from messor.frontier.tasks import Task
from messor.ledger.decisions import Decision
from messor.ledger.errors import Category
from messor.politeness.lanes import Lane
from messor.web.urls import scheme_of

CUT_OFF = "cut_off"
CUT_OFF_SENTENCE = "the request was sent, but the worker stopped before storing the response"


@dataclass(slots=True)
class PageResult:
    """The result of one task: its decision, fetch, content, links and next due time."""

    lane: Lane
    task: Task
    decision: Decision
    schedule: Schedule
    fetched: Fetched | None = None
    # Where reading a sitemap, robots.txt or image, or comparing the content, says more than it.
    final: FetchResult | None = None
    raw_hash: bytes | None = None
    snapshot: Snapshot | None = None
    found: list[NewPage] = field(default_factory=list)
    hops: list[Fetched] = field(default_factory=list)  # attempts before the last one
    robots_id: int | None = None  # the robots.txt version that applied to the decision
    joins: list[Join] = field(default_factory=list)  # pages that crawl runs discovered here
    moved_to: str | None = None  # redirect target of an image
    next_provider: str | None = None  # continues after a pause, in place of HTTP
    shell_hash: bytes | None = (
        None  # of the site's own response that another provider was needed for
    )
    paid_repeats: int | None = None  # earlier paid calls in a row without a change; None: none made
    fault: Category | None = None  # of an error that was logged when it happened

    def __post_init__(self) -> None:
        self.robots_id = self.lane.robots_ids.get(scheme_of(self.task.url))
        if self.fetched is None:
            self.next_provider, self.shell_hash = self.task.next_provider, self.task.shell_hash

    @property
    def result(self) -> FetchResult | None:
        """How the fetch ended; None if none was allowed."""
        return self.final or (self.fetched.result if self.fetched else None)

    @property
    def outcome(self) -> str:
        """The outcome of the fetch, or the rule that refused it."""
        return self.result.outcome if self.result else self.decision.rule

    @property
    def is_fetched_well(self) -> bool:
        return self.result is not None and self.result.outcome.is_good

    def mark_unchanged(self) -> None:
        """Its content turned out to be that of last time."""
        self.final = self.result.unchanged() if self.result else None

    @property
    def attempts(self) -> list[tuple[Fetched, str]]:
        """Every attempt for this page with its outcome; the last one is the page's."""
        if self.fetched is None:
            return []
        if not self.hops and self.fetched.earlier is None:
            return [(self.fetched, self.outcome)]
        found: list[tuple[Fetched, str]] = []
        for fetched in (*self.hops, self.fetched):
            found += [(each, each.outcome) for each in fetched.all_earlier]
            found.append((fetched, self.outcome if fetched is self.fetched else fetched.outcome))
        return found

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers of the site's own HTTP response; its validators go into the next request."""
        own = self.site_response
        return own.headers if own else {}

    @property
    def site_response(self) -> Fetched | None:
        """The site's own HTTP response, even if another provider delivered the content."""
        if not self.hops:
            return self.fetched
        sites = (hop for hop in self.hops if hop.provider == "http")
        return next(sites, self.fetched)

    @property
    def other_provider(self) -> str | None:
        """The provider that delivered the content, if not plain HTTP."""
        if self.fetched is None or self.fetched.provider == "http":
            return None
        return self.fetched.provider

    @property
    def is_good(self) -> bool:
        """Whether the content is the page's own; a block or empty page never is."""
        return self.snapshot is not None and self.snapshot.verdict is None

    def age(self, now: float) -> float:
        """Seconds since the attempt began."""
        return now - self.fetched.began_at if self.fetched and self.fetched.began_at else 0.0

    @property
    def presence(self) -> Presence | None:
        """Whether a page with a snapshot still exists, if that may have changed."""
        task = self.task
        here = self.outcome == Outcome.UNCHANGED
        if task.snapshot_id is None or (self.snapshot is not None and not here):
            return None
        # An unchanged page that was good before has not returned: its presence is the same.
        if self.outcome != Outcome.NOT_FOUND and not (here and task.outcome not in GOOD):
            return None
        return Presence(task.page_id, self.lane.host_id, self.lane.token, here, task.snapshot_id)

    @property
    def error_category(self) -> Category | None:
        """The category of the failure; None if it did not fail."""
        if self.fault is not None or self.result is None or self.fetched is None:
            return self.fault
        return category_of(self.result, self.fetched)

    def quarantine(self, error: str, category: Category | None = None) -> None:
        """Discard everything about the page except that it failed with this error."""
        self.schedule = Schedule("failed", None, 0)
        self.fault = category
        self.final = None
        self.fetched = _bare(self.fetched or Fetched(), OK.broken(error))
        self.snapshot = None
        self.raw_hash = self.shell_hash = self.next_provider = None
        self.found = []

    def cut_off(self) -> None:
        """Discard the content, which can no longer be stored; the request is still logged."""
        self.quarantine(CUT_OFF_SENTENCE)
        assert self.fetched is not None
        self.fetched.result = failed(CUT_OFF, CUT_OFF_SENTENCE)

    def drop_responses(self) -> None:
        """Reduce earlier attempts to the fact that they were made; PostgreSQL rejects the rest."""
        self.hops = [_bare(hop, FetchResult(hop.outcome)) for hop in self.hops]

    @property
    def refusal(self) -> str | None:
        return None if self.decision.allowed else f"{self.decision.rule}: {self.decision.reason}"


def _bare(fetched: Fetched, result: FetchResult) -> Fetched:
    """A copy that records that and when a request was made, without response data."""
    earlier = fetched.earlier
    return Fetched(
        result,
        sent_at=fetched.sent_at,
        began_at=fetched.began_at,
        gap=fetched.gap,
        delay=fetched.delay,
        duration=fetched.duration,
        provider=fetched.provider,
        cost=fetched.cost,
        proxy_id=fetched.proxy_id,
        signed_by=fetched.signed_by,
        earlier=earlier and _bare(earlier, FetchResult(earlier.outcome)),
    )
