"""What a visit hands to the flush: one value per page, whatever came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from messor.archive.snapshots import Presence, Snapshot
from messor.fetch.outcome import Fetched, Outcome
from messor.frontier.cadence import Schedule
from messor.frontier.pages import NewPage
from messor.frontier.runs import Join
from messor.frontier.tasks import Task
from messor.ledger.decisions import Decision
from messor.politeness.lanes import Lane
from messor.web.urls import scheme_of

# After one of these an unchanged page is no news.
STEADY = (Outcome.OK, Outcome.UNCHANGED)


CUT_OFF = "cut_off"
CUT_OFF_SENTENCE = "the request was sent, and the worker stopped before its answer was stored"


@dataclass(slots=True)
class PageResult:
    """One page's turn: decided, perhaps fetched, kept, read and scheduled."""

    lane: Lane
    task: Task
    decision: Decision
    schedule: Schedule
    outcome: str
    fetched: Fetched | None = None
    raw_hash: bytes | None = None
    snapshot: Snapshot | None = None
    found: list[NewPage] = field(default_factory=list)
    hops: list[Fetched] = field(default_factory=list)  # attempts before the last one
    robots_id: int | None = None  # the version in force when it was decided
    joins: list[Join] = field(default_factory=list)  # pages that runs came upon
    moved_to: str | None = None  # where a picture was redirected to

    def __post_init__(self) -> None:
        self.robots_id = self.lane.robots_ids.get(scheme_of(self.task.url))

    @property
    def attempts(self) -> list[tuple[Fetched, str]]:
        """Every request made for this page, with its outcome; the last is the page's."""
        if self.fetched is None:
            return []
        if not self.hops:
            return [(self.fetched, self.outcome)]
        return [*((hop, hop.outcome) for hop in self.hops), (self.fetched, self.outcome)]

    @property
    def headers(self) -> Mapping[str, str]:
        """Of the site's own answer to HTTP: they validate the next request."""
        own = self.own_answer
        return own.headers if own else {}

    @property
    def own_answer(self) -> Fetched | None:
        """What the site itself answered to HTTP, whoever brought the content in the end."""
        if not self.hops:
            return self.fetched
        sites = (hop for hop in self.hops if hop.provider == "http")
        return next(sites, self.fetched)

    @property
    def other_provider(self) -> str | None:
        """Who brought the content, when it was not HTTP."""
        if self.fetched is None or self.fetched.provider == "http":
            return None
        return self.fetched.provider

    @property
    def is_good(self) -> bool:
        """Whether the page's content may stand for it: a block or a blank page never does."""
        return self.snapshot is not None and self.snapshot.verdict is None

    def age(self, now: float) -> float:
        """Seconds since the attempt began."""
        return now - self.fetched.began_at if self.fetched and self.fetched.began_at else 0.0

    @property
    def presence(self) -> Presence | None:
        """Whether a page we hold is there, when that may be news."""
        task = self.task
        here = self.outcome == Outcome.UNCHANGED
        if task.snapshot_id is None or (self.snapshot is not None and not here):
            return None
        if self.outcome != Outcome.NOT_FOUND and not (here and task.outcome not in STEADY):
            return None
        return Presence(task.page_id, self.lane.host_id, self.lane.token, here, task.snapshot_id)

    def quarantine(self, error: str) -> None:
        """Keep nothing of the page but the fact that it could not be kept."""
        self.schedule = Schedule("failed", None, 0)
        self.outcome = Outcome.ERROR
        before = self.fetched
        self.fetched = Fetched(Outcome.ERROR) if before is None else _bare(before, Outcome.ERROR)
        self.fetched.error = error
        self.snapshot = None
        self.raw_hash = None
        self.found = []

    def cut_off(self) -> None:
        """Nothing of it can be stored any more; that it was asked for is logged."""
        self.quarantine(CUT_OFF_SENTENCE)
        assert self.fetched is not None
        self.fetched.error_type = CUT_OFF

    def forget_answers(self) -> None:
        """Of attempts before the last, keep that they were made: PostgreSQL takes no more of this page."""
        self.hops = [_bare(hop, hop.outcome) for hop in self.hops]

    @property
    def refusal(self) -> str | None:
        return None if self.decision.allowed else f"{self.decision.rule}: {self.decision.reason}"


def _bare(fetched: Fetched, outcome: Outcome) -> Fetched:
    """That a request was made, and when; nothing of what the site said."""
    return Fetched(
        outcome,
        sent_at=fetched.sent_at,
        began_at=fetched.began_at,
        gap=fetched.gap,
        delay=fetched.delay,
        duration=fetched.duration,
        provider=fetched.provider,
        cost=fetched.cost,
        proxy_id=fetched.proxy_id,
    )
