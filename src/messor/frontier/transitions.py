"""The statuses of crawl tasks, and which may follow which.

Five are stored: pending, completed, failed, paused, cancelled. Queued and crawling are read off
the lane's lease in the view `crawl_task_status`; downloaded and parsing pass between two flushes
and never reach a table. Every statement that changes a status takes what it may start from here.
"""

from __future__ import annotations

from messor.errors import ConflictError

TRANSITIONS = {
    "pending": {"pending", "completed", "failed", "paused", "cancelled"},
    "completed": {"pending", "completed", "failed", "paused", "cancelled"},
    "failed": {"pending", "completed", "failed", "paused", "cancelled"},
    "paused": {"pending", "cancelled"},  # a fetch under way does not resume a task
    "cancelled": {"pending"},  # until somebody asks for it again
}
STORED = frozenset(TRANSITIONS)
DERIVED = frozenset({"queued", "crawling"})

# What people do to tasks, and the status it leads to.
ACTS = {
    "pause": "paused",
    "resume": "pending",
    "stop": "cancelled",
    "retry": "pending",
    "recrawl": "pending",
}
# Acts that start from fewer statuses than the table allows, because they mean less.
_STARTS = {
    "resume": {"paused"},
    "retry": {"pending", "failed", "cancelled"},
    "recrawl": {"pending", "completed", "failed"},
}


def may(before: str, after: str) -> bool:
    return after in TRANSITIONS[before]


def sources(act: str) -> list[str]:
    """The statuses an act may start from, those it would change nothing in left out."""
    target = ACTS[act]
    starts = _STARTS.get(act, STORED - {target})
    return sorted(status for status in starts if may(status, target))


def require(act: str, before: str) -> None:
    """Raise a sentence when a task of this status cannot be acted upon so."""
    if before not in sources(act):
        legal = ", ".join(sources(act))
        raise ConflictError(
            f"A task that is {before} cannot be changed by {act!r}: it must be {legal}."
        )


def sql_list(statuses: frozenset[str] | set[str]) -> str:
    """Statuses for the text of a statement."""
    return ", ".join(f"'{status}'" for status in sorted(statuses))


# What a fetch may not end: only people do.
HELD = frozenset(status for status in STORED if not may(status, "completed"))
HELD_SQL = sql_list(HELD)

# Of a task `t`: it lies beyond its domain's depth and is never due by itself, as only a run went there.
BEYOND_SQL = """t.due_at IS NULL AND EXISTS (
     SELECT FROM messor.pages far JOIN messor.hosts o ON o.id = far.host_id
       JOIN messor.domains of_it ON of_it.id = o.domain_id
      WHERE far.id = t.page_id AND far.depth > of_it.max_crawl_depth)"""
