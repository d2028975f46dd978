"""Cadence: when a page is due again, from how the last fetch went."""

from __future__ import annotations

from dataclasses import dataclass

from messor.frontier.tasks import Task

DEFAULT_FREQUENCY = 24 * 3600.0
FIRST_RETRY = 60.0  # seconds; then four times as long each time
GONE_FREQUENCY = 7 * 24 * 3600.0  # a page that is not there is looked for again, seldom


@dataclass(frozen=True, slots=True)
class Schedule:
    """What a fetch does to its task."""

    status: str
    due_in: float | None
    retry_count: int


def frequency(task: Task, domain_frequency: float | None) -> float:
    """Seconds between two crawls: the task's own, else the domain's, else a day."""
    if task.crawl_frequency is not None:
        return task.crawl_frequency.total_seconds()
    return domain_frequency or DEFAULT_FREQUENCY


def spread(page_id: int) -> float:
    """From 1 to 1.1, another for each page: what failed together does not come back together."""
    return 1.0 + (page_id * 0.618034 % 1.0) / 10.0


def after_success(task: Task, domain_frequency: float | None) -> Schedule:
    return Schedule("completed", frequency(task, domain_frequency), 0)


def after_gone() -> Schedule:
    return Schedule("completed", GONE_FREQUENCY, 0)


def after_failure(task: Task, domain_frequency: float | None, retry_after: float = 0.0) -> Schedule:
    """Retry-After first; then three tries further and further apart; then the usual rhythm."""
    if task.retry_count >= task.max_retries:
        return Schedule("failed", max(frequency(task, domain_frequency), retry_after), 0)
    wait = FIRST_RETRY * 4**task.retry_count * spread(task.page_id)
    return Schedule("pending", max(wait, retry_after), task.retry_count + 1)
