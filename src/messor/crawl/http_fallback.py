"""HTTP fallback: redirects https URLs of a host that only answers over http to their http twin.

No request is made for the https URL: its robots.txt, requested daily, shows that https cannot be
connected to. The twin is a separate page, governed by the robots.txt of http.
"""

from __future__ import annotations

from messor.crawl.flush_queue import FlushQueue
from messor.crawl.links import LinkFilter, joins_of_redirect
from messor.crawl.page_result import PageResult
from messor.crawl.preflight import KIND
from messor.crawl.rules import ALLOWED
from messor.fetch.outcome import OK, Fetched
from messor.frontier.cadence import Schedule
from messor.frontier.pages import SITEMAPS
from messor.frontier.tasks import Task
from messor.politeness.lanes import Lane
from messor.politeness.robots import FRESH_SECONDS
from messor.web.urls import http_twin


class HttpFallback:
    """Redirects tasks to http for one worker."""

    def __init__(self, flush_queue: FlushQueue, link_filter: LinkFilter) -> None:
        self._flush_queue = flush_queue
        self._link_filter = link_filter

    def redirect_to_http(self, lane: Lane, task: Task) -> bool:
        """Redirect the task to its http twin if https is unavailable; return whether it was."""
        twin = http_twin(task.url)
        if twin is None or task.kind in ("robots", KIND) or not lane.is_http_only:
            return False
        target = self._link_filter.follow(lane, task, twin.href)
        message = f"https does not connect ({lane.https_error}): {twin.href} is fetched instead"
        fetched = Fetched(OK.redirected(twin.href).explained(target.error or message))
        # Due again once https has been retried; costs no request while that still fails.
        next_due = Schedule("completed", FRESH_SECONDS, 0)
        result = PageResult(lane, task, ALLOWED, next_due, fetched, found=target.pages)
        result.joins = joins_of_redirect(task, twin.href)
        for page in target.pages:
            page.kind = task.kind
            if task.kind == "sitemap":
                page.priority, page.pattern = task.priority, SITEMAPS
        if task.kind == "image":
            result.moved_to, result.found = twin.href, []  # like any image that moved
        self._flush_queue.put(result)
        return True
