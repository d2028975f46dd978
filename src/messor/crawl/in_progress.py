"""The task a visit's runner is working on, with the decision that allows it.

Requests cut off by a stop, a halt or a lost lease are logged from it.
"""

from __future__ import annotations

from dataclasses import dataclass

from messor.core import clock
from messor.crawl.page_result import CUT_OFF, CUT_OFF_SENTENCE, PageResult
from messor.fetch.outcome import Fetched, failed
from messor.frontier.cadence import Schedule
from messor.frontier.tasks import Task
from messor.ledger.decisions import Decision
from messor.politeness.lanes import Lane
from messor.politeness.pace import Permit


@dataclass(frozen=True, slots=True)
class TaskInProgress:
    """A task in progress."""

    task: Task
    decision: Decision

    def cut_off(self, lane: Lane, permit: Permit) -> PageResult:
        """The log entry of a request whose response was not awaited; the task is unchanged."""
        fetched = Fetched(
            failed(CUT_OFF, CUT_OFF_SENTENCE),
            sent_at=permit.used_at,
            began_at=permit.used_at,
            gap=permit.gap,
            delay=permit.delay,
            duration=clock.now() - permit.used_at,
            signed_by=permit.signed_by,
        )
        later = Schedule("pending", 0.0, self.task.retry_count)
        return PageResult(lane, self.task, self.decision, later, fetched)
