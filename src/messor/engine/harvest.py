"""What a visit hands to the flush: one value per page, whatever came of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from messor.archive.snapshots import Snapshot
from messor.courtesy.lanes import Lane
from messor.fetch.outcome import Fetched, Outcome
from messor.frontier.cadence import Schedule
from messor.frontier.pages import NewPage
from messor.frontier.tasks import Task
from messor.ledger.decisions import Decision


@dataclass(slots=True)
class Harvest:
    """One page's turn: decided, perhaps fetched, kept, read and scheduled."""

    lane: Lane
    task: Task
    decision: Decision
    schedule: Schedule
    outcome: str
    fetched: Fetched | None = None
    raw_hash: bytes | None = None
    snapshot: Snapshot | None = None
    removed: bool = False
    found: list[NewPage] = field(default_factory=list)

    def age(self, now: float) -> float:
        """Seconds since the request was written."""
        return now - self.fetched.sent_at if self.fetched and self.fetched.sent_at else 0.0

    def quarantine(self, error: str) -> None:
        """Keep nothing of the page but the fact that it could not be kept."""
        self.schedule = Schedule("failed", None, 0)
        self.outcome = Outcome.ERROR
        self.fetched = Fetched(Outcome.ERROR, error=f"cannot be stored: {error}")
        self.snapshot = None
        self.raw_hash = None
        self.found = []

    @property
    def refusal(self) -> str | None:
        return None if self.decision.allowed else f"{self.decision.rule}: {self.decision.reason}"
