"""The attempts to fetch one page in one turn: which is the best, what is remembered, when it is due.

`crawl.visit` makes them; the providers are chosen by `fetch.router`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from messor.archive.hashes import shell_hash
from messor.crawl.read import PageReadResult
from messor.fetch.outcome import Fetched, Outcome
from messor.fetch.provider import PROVIDER_FAULT
from messor.frontier import cadence
from messor.frontier.cadence import Schedule
from messor.frontier.tasks import Task
from messor.politeness.lanes import Lane

EXHAUSTED_SECONDS = 3600.0  # before retrying a page that every provider failed to fetch


@dataclass(slots=True)
class Attempts:
    """A page's attempts so far; `last` decides what is tried next, `best` is kept."""

    task: Task
    first: PageReadResult
    best: PageReadResult
    last: PageReadResult
    others: list[Fetched] = field(default_factory=list)  # besides the best
    next_provider: str | None = None  # continues after a pause
    pause: float = 0.0  # seconds, before it does
    paid_repeats: int | None = None  # see PageResult
    proof: str | None = None  # why the page is unchanged, by its sitemap

    @classmethod
    def begin(cls, task: Task, first: PageReadResult) -> Attempts:
        return cls(task, first, first, first)

    def add(self, later: PageReadResult) -> None:
        later.raw_hash = self.last.raw_hash
        if is_better(later, self.best):
            self.others.append(self.best.fetched)
            self.best = later
        else:
            self.others.append(later.fetched)
        self.last = later

    @property
    def is_proved(self) -> bool:
        """Whether the page is known to be unchanged, so that nobody is paid to fetch it."""
        return self.proof is not None or self.first.same_shell

    @property
    def resumed(self) -> bool:
        """Whether they began with another provider, after a pause."""
        return self.first.fetched.provider != "http"

    def compare_shell(self) -> None:
        """Hash the site's own response, and compare it with the one another provider was needed for."""
        first, task = self.first, self.task
        if self.last is not first or self.resumed or first.shell_hash or not first.text:
            return
        if first.fetched.outcome in (Outcome.OK, Outcome.EMPTY):
            first.shell_hash = shell_hash(first.text)
            known = task.provider is not None and task.snapshot_id is not None
            if known and first.shell_hash == task.shell_hash:
                first.same_shell, first.reading = True, None

    def settle(self) -> None:
        """Mark a page unchanged that is proved so, where no provider brought it."""
        best = self.best.fetched
        if self.best.same_shell:
            best.result = best.result.unchanged()
        elif self.proof is not None and not best.outcome.is_good and self.next_provider is None:
            message = f"{best.error}; {self.proof}" if best.error else self.proof
            best.result = best.result.unchanged().explained(message)

    @property
    def shell_hash(self) -> bytes | None:
        """The hash to remember: of the response that the newest content goes with."""
        best, own = self.best.fetched, self.first.shell_hash
        if self.next_provider is not None:
            return self.task.shell_hash if self.resumed else own
        if best.provider != "http" and best.outcome.is_good:
            return self.task.shell_hash if self.resumed else own
        if self.resumed or best.outcome is Outcome.OK:
            return None
        return self.task.shell_hash


def is_better(later: PageReadResult, best: PageReadResult) -> bool:
    """Whether another provider's result replaces the best one so far."""
    if later.fetched.error_type == PROVIDER_FAULT:
        return False
    return later.fetched.outcome.is_good or not best.fetched.outcome.is_good


def schedule(lane: Lane, attempts: Attempts) -> Schedule:
    """When the page is due again."""
    task, fetched, others = attempts.task, attempts.best.fetched, attempts.others
    if attempts.next_provider is not None:
        return cadence.after_pause(task, attempts.pause)
    # An empty shell is retried soon if a provider failed rather than the page.
    faults = [other for other in others if other.error_type == PROVIDER_FAULT]
    provider_failed = bool(faults) and fetched.outcome in (Outcome.EMPTY, Outcome.UNCHANGED)
    if provider_failed and not any(fault.sent_at for fault in faults):
        soonest = min(fault.retry_after or EXHAUSTED_SECONDS for fault in faults)
        return cadence.after_waiting(task, soonest)
    beyond = task.depth > lane.policy.max_crawl_depth and not task.is_named
    recurs = lane.policy.harvest == "site" and not beyond
    if provider_failed or fetched.outcome.is_retryable:
        is_exhausted = bool(others) or attempts.resumed
        wait = max(fetched.retry_after or 0.0, EXHAUSTED_SECONDS if is_exhausted else 0.0)
        return cadence.after_failure(task, lane.policy.frequency, wait, recurs=recurs)
    if not recurs:
        return Schedule("completed", None, 0)  # until it is requested again
    if fetched.outcome is Outcome.NOT_FOUND:
        return cadence.after_gone()
    return cadence.after_success(task, lane.policy.frequency)
