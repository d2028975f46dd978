"""Over http: an https URL of a host that only answers over http is sent on to its twin there.

No request is made for it: that https cannot be connected is known from its robots.txt, which is
asked for again every day. The twin is a page of its own, decided on under the robots.txt of http.
"""

from __future__ import annotations

from messor.crawl.flush_queue import FlushQueue
from messor.crawl.links import LinkFilter, joins_of_redirect
from messor.crawl.page_result import PageResult
from messor.crawl.preflight import KIND
from messor.crawl.rules import ALLOWED
from messor.fetch.outcome import Fetched, Outcome
from messor.frontier.cadence import Schedule
from messor.frontier.pages import SITEMAPS
from messor.frontier.tasks import Task
from messor.politeness.lanes import Lane
from messor.politeness.robots import FRESH_SECONDS
from messor.web.urls import http_twin


class HttpStandIn:
    """Sends tasks on for one worker."""

    def __init__(self, inbox: FlushQueue, sieve: LinkFilter) -> None:
        self._inbox = inbox
        self._sieve = sieve

    def send_on(self, lane: Lane, task: Task) -> bool:
        """Whether the task was settled by sending it on to http."""
        twin = http_twin(task.url)
        if twin is None or task.kind in ("robots", KIND) or not lane.is_http_only:
            return False
        found, why_not = self._sieve.follow(lane, task, twin.href)
        said = f"https cannot be connected ({lane.https_error}): {twin.href} is fetched instead"
        fetched = Fetched(Outcome.REDIRECTED, location=twin.href, error=why_not or said)
        # Looked at again when https was tried again: it costs no request while that still fails.
        again = Schedule("completed", FRESH_SECONDS, 0)
        harvest = PageResult(lane, task, ALLOWED, again, Outcome.REDIRECTED, fetched, found=found)
        harvest.joins = joins_of_redirect(task, twin.href)
        for page in found:
            page.kind = task.kind
            if task.kind == "sitemap":
                page.priority, page.pattern = task.priority, SITEMAPS
        if task.kind == "image":
            harvest.moved_to, harvest.found = twin.href, []  # as any picture that moved
        self._inbox.put(harvest)
        return True
