"""Failed fetches as logged errors.

A failure is logged by the flush that writes its fetch, so it costs no round trip of its own.
"""

from __future__ import annotations

from messor.crawl.page_result import PageResult
from messor.ledger.errors import LoggedError


def fault_of(result: PageResult) -> LoggedError | None:
    """The failure of a fetch; None if there is none, or if it was logged when it happened."""
    fetched, category = result.fetched, result.error_category
    if fetched is None or category is None or result.fault is not None:
        return None
    task, outcome = result.task, result.outcome
    name = fetched.error_type or (f"http_{fetched.status}" if fetched.status else outcome)
    message = fetched.error or fetched.outcome.meaning
    detail = {
        "url": task.url,
        "host": result.lane.host,
        "outcome": outcome,
        "status": fetched.status,
        "provider": fetched.provider,
        "try": task.retry_count % max(task.max_retries, 1) + 1,
        "task": result.schedule.status,
    }
    storable = message.replace("\x00", "").encode("utf-8", "replace").decode()
    return LoggedError(category, name, storable, None, task.page_id, None, detail)
