"""Cadence: when a page is due again, from its last outcome and its change history.

The first that is set applies: the task's own frequency, its domain's track level (with the interval
that the vertical has for it), the domain's hours, a day. A manual request is due at once and needs no frequency. A frequency set for the task
itself is kept exactly; others adapt to the page's history within bounds.
"""

from __future__ import annotations

import math
import re
from datetime import timedelta
from typing import NamedTuple

from messor.errors import UsageError
from messor.frontier.tasks import DAY, SHORTEST_FREQUENCY, Task, base_frequency, seconds_of

HOUR = 3600.0
DEFAULT_FREQUENCY = DAY
FIRST_RETRY = 60.0  # seconds; four times as long each time
MAX_ROUNDS = 5  # of failures at the usual cadence before a page rests
WAITS = (HOUR, 4 * HOUR, DAY, 7 * DAY)  # for a provider
_MAX_WAITS = 1_000  # counted
GONE_FREQUENCY = 7 * DAY  # a missing page is checked again, rarely

PAID_FACTOR = 16.0  # maximum factor for a page that paid calls find unchanged
FACTOR = 4.0  # maximum factor by which history speeds up or slows down a frequency
_MAX_CHECKS = 16  # checks remembered per page
_ENOUGH = 8  # checks until a history has full weight

SHORTEST, LONGEST = timedelta(seconds=SHORTEST_FREQUENCY), timedelta(days=3650)
INTERVALS = {
    "hourly": timedelta(hours=1),
    "daily": timedelta(days=1),
    "weekly": timedelta(days=7),
    "monthly": timedelta(days=30),
    "quarterly": timedelta(days=91),
    "yearly": timedelta(days=365),
}
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_INTERVAL = re.compile(
    r"(\d{1,7}(?:\.\d{1,3})?)\s*(m|h|d|w)(?:in(?:utes?)?|ours?|ays?|eeks?)?\Z", re.ASCII
)


class Schedule(NamedTuple):
    """The effect of a fetch on its task."""

    status: str
    due_in: float | None
    retry_count: int
    history: int | None = None  # None if the fetch did not show whether the page changed
    waits: int = 0  # consecutive, for a provider that was not available
    rounds: int = 0  # consecutive, that failed for good


class CrawlFrequency(NamedTuple):
    """How often a page is checked, and why; times in seconds."""

    own: float | None
    track_level: str | None
    domain: float | None
    history: int = 1
    track_interval: float | None = None  # of the level, if a vertical has its own

    @property
    def base(self) -> float:
        return base_frequency(self.own, self.track_level, self.domain, self.track_interval)

    @property
    def is_exact(self) -> bool:
        """Whether it was set for this task; then history is ignored."""
        return self.own is not None

    @property
    def interval(self) -> float:
        return self.base if self.is_exact else self.base * factor(self.history)

    @property
    def source(self) -> str:
        if self.own is not None:
            return "set for this page"
        if self.track_level is not None:
            return f"track level {self.track_level}"
        return "set for its domain" if self.domain else "the default"


def checks(history: int) -> int:
    """Number of checks in a history."""
    return history.bit_length() - 1


def changes(history: int) -> int:
    """Number of checks that found a change."""
    return history.bit_count() - 1


def remember(history: int, *, changed: bool) -> int:
    """Add a check to a history; the oldest is dropped when it is full."""
    longer = history << 1 | changed
    if checks(longer) <= _MAX_CHECKS:
        return longer
    return longer & ((1 << _MAX_CHECKS) - 1) | 1 << _MAX_CHECKS


def factor(history: int) -> float:
    """The factor by which a page's interval differs from its base; below 1 is more often.

    The change rate is estimated so that a page that changed at every check does not give infinity
    (Cho and Garcia-Molina), and the page is checked when it has changed with even odds. A short
    history has little effect.
    """
    seen, changed = checks(history), changes(history)
    if seen == 0:
        return 1.0
    rate = -math.log((seen - changed + 0.5) / (seen + 0.5))
    wanted = math.log(2) / rate if rate > 0 else FACTOR
    bounded = min(max(wanted, 1 / FACTOR), FACTOR)
    return float(bounded ** min(seen / _ENOUGH, 1.0))


def crawl_frequency(task: Task, domain_frequency: float | None) -> CrawlFrequency:
    return CrawlFrequency(
        seconds_of(task.crawl_frequency),
        task.track_level,
        domain_frequency,
        task.history,
        seconds_of(task.track_interval),
    )


def frequency(task: Task, domain_frequency: float | None) -> float:
    """Seconds between two crawls, before history is applied."""
    return crawl_frequency(task, domain_frequency).base


def explain(crawl_frequency: CrawlFrequency) -> str:
    """How often a page is crawled and why, in one sentence."""
    seen, changed = checks(crawl_frequency.history), changes(crawl_frequency.history)
    base = f"{spell(crawl_frequency.base)} ({crawl_frequency.source})"
    if crawl_frequency.is_exact:
        return f"crawled every {base}, exactly"
    if seen == 0:
        return f"crawled every {base}; no change history yet"
    found = f"{changed} of the last {seen} checks found a change"
    bounds = f"{spell(crawl_frequency.base / FACTOR)} to {spell(crawl_frequency.base * FACTOR)}"
    return f"crawled every {spell(crawl_frequency.interval)}: {base}, and {found}; bounds {bounds}"


def spell(seconds: float) -> str:
    """A duration in its two largest units: 2 d 6 h, 45 min."""
    rest = round(seconds)
    parts: list[str] = []
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)):
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or "0 s"


def parse_interval(text: str) -> timedelta:
    """Parse a frequency: 30m, 12h, 7d, 2 weeks, daily; raises UsageError."""
    word = text.strip().lower()
    found = _INTERVAL.match(word)
    if word in INTERVALS:
        interval = INTERVALS[word]
    elif found:
        interval = timedelta(**{_UNITS[found[2]]: min(float(found[1]), 1e6)})
    else:
        raise UsageError(
            f"{text[:50]!r} is not a frequency; use 30m, 12h, 7d, 2w, daily, weekly or monthly."
        )
    if not SHORTEST <= interval <= LONGEST:
        raise UsageError(f"{text[:50]!r} is out of range; use one minute to ten years.")
    return interval


def spread(page_id: int) -> float:
    """From 1 to 1.1, different for each page, so that pages that failed together are retried apart."""
    return 1.0 + (page_id * 0.618034 % 1.0) / 10.0


def after_success(task: Task, domain_frequency: float | None) -> Schedule:
    return Schedule("completed", frequency(task, domain_frequency), 0)


def after_check(
    schedule: Schedule, task: Task, domain_frequency: float | None, *, changed: bool
) -> Schedule:
    """Adapt a schedule once it is known whether the page changed; one without a due time stays so."""
    history = remember(task.history, changed=changed)
    if schedule.status != "completed" or schedule.due_in is None:
        return schedule._replace(history=history)
    due_in = crawl_frequency(task, domain_frequency)._replace(history=history).interval
    return schedule._replace(due_in=due_in, history=history)


def after_paid(schedule: Schedule, task: Task, repeats: int) -> Schedule:
    """Double the interval with each paid call in a row that found the page unchanged.

    A frequency set for the task itself is kept.
    """
    if schedule.due_in is None or task.crawl_frequency is not None:
        return schedule
    return schedule._replace(due_in=schedule.due_in * paid_factor(repeats))


def paid_factor(repeats: int) -> float:
    """The factor for so many paid calls in a row that found a page unchanged."""
    return float(min(2.0**repeats, PAID_FACTOR))


def after_pause(task: Task, seconds: float) -> Schedule:
    """Another provider continues after the pause: not a failure of the page yet."""
    return Schedule("pending", seconds, task.retry_count, rounds=task.rounds)


def after_gone() -> Schedule:
    return Schedule("completed", GONE_FREQUENCY, 0)


def after_waiting(task: Task, seconds: float) -> Schedule:
    """No provider was available: not a failure of the page, however often it happens.

    The page is fetched by HTTP each time, so it is tried less and less often.
    """
    wait = max(seconds, WAITS[min(task.waits, len(WAITS) - 1)])
    waits = min(task.waits + 1, _MAX_WAITS)
    return Schedule(
        "pending", wait * spread(task.page_id), task.retry_count, None, waits, task.rounds
    )


def after_refusal(task: Task, domain_frequency: float | None) -> Schedule:
    """A rule forbids the fetch; decided again at the usual cadence."""
    return Schedule("skipped", frequency(task, domain_frequency), 0)


def after_failure(
    task: Task,
    domain_frequency: float | None,
    retry_after: float = 0.0,
    *,
    recurs: bool = True,
) -> Schedule:
    """Retry-After first; three tries further and further apart; then it failed for good.

    A page that recurs is tried again at its usual cadence, and rests after five such rounds; any
    other rests at once. Only a page rests: what leads to pages is always tried again.
    """
    tried = task.retry_count if task.retry_count < task.max_retries else 0  # a new round
    tries = tried + 1
    if tries < task.max_retries:
        wait = FIRST_RETRY * 4**tried * spread(task.page_id)
        return Schedule("pending", max(wait, retry_after), tries, rounds=task.rounds)
    rounds = min(task.rounds + 1, MAX_ROUNDS)
    rests = task.kind == "page" and (not recurs or rounds >= MAX_ROUNDS)
    due_in = None if rests else max(frequency(task, domain_frequency), retry_after)
    return Schedule("failed", due_in, task.max_retries, rounds=rounds)
