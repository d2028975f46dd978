"""The statuses of crawl tasks, and which may follow which.

Six are stored: pending, completed, failed, skipped, paused, cancelled. The view `crawl_task_status`
derives the others: queued and crawling from the lane's lease, downloaded while new content waits to
be extracted, parsing while it is. Every statement that changes a status takes its permitted starting
statuses from here.
"""

from __future__ import annotations

from messor.errors import ConflictError

TRANSITIONS = {
    "pending": {"pending", "completed", "failed", "skipped", "paused", "cancelled"},
    "completed": {"pending", "completed", "failed", "skipped", "paused", "cancelled"},
    "failed": {"pending", "completed", "failed", "skipped", "paused", "cancelled"},
    "skipped": {"pending", "completed", "failed", "skipped", "paused", "cancelled"},
    "paused": {"pending", "cancelled"},  # a fetch in progress does not resume a task
    "cancelled": {"pending"},  # until it is requested again
}
STORED = frozenset(TRANSITIONS)
DERIVED = frozenset({"queued", "crawling", "downloaded", "parsing"})

# What people do to tasks, and the resulting status.
ACTS = {
    "pause": "paused",
    "resume": "pending",
    "stop": "cancelled",
    "retry": "pending",
    "recrawl": "pending",
}
# Acts with fewer starting statuses than the table allows.
_STARTS = {
    "resume": {"paused"},
    "retry": {"pending", "failed", "cancelled"},
    "recrawl": {"pending", "completed", "failed", "skipped"},
}


def may(before: str, after: str) -> bool:
    return after in TRANSITIONS[before]


def sources(act: str) -> list[str]:
    """The statuses an act may start from, except those it would not change."""
    target = ACTS[act]
    starts = _STARTS.get(act, STORED - {target})
    return sorted(status for status in starts if may(status, target))


def require(act: str, before: str) -> None:
    """Raise ConflictError if a task of this status does not permit the act."""
    if before not in sources(act):
        legal = ", ".join(sources(act))
        raise ConflictError(
            f"A task that is {before} cannot be changed with {act!r}: it must be {legal}."
        )


def sql_list(statuses: frozenset[str] | set[str]) -> str:
    """Statuses as an SQL list."""
    return ", ".join(f"'{status}'" for status in sorted(statuses))


# Statuses that only people end, not a fetch.
HELD = frozenset(status for status in STORED if not may(status, "completed"))
HELD_SQL = sql_list(HELD)

# Of a task `t`: beyond its domain's depth and never due by itself, as only a run reached it and
# nobody named it.
BEYOND_SQL = """t.due_at IS NULL AND EXISTS (
     SELECT FROM messor.pages far JOIN messor.hosts o ON o.id = far.host_id
       JOIN messor.domains of_it ON of_it.id = o.domain_id
      WHERE far.id = t.page_id AND far.depth > of_it.max_crawl_depth
        AND far.found_by <> 'manual')"""
