"""Links become pages: which of a page's links enter the frontier, and why the others do not."""

from __future__ import annotations

from collections import Counter

from messor.courtesy.lanes import Lane
from messor.frontier.pages import NewPage
from messor.frontier.seen import SeenFilter
from messor.frontier.tasks import Task
from messor.web.html import PageReading
from messor.web.suffixes import registrable_domain
from messor.web.urls import Link, Url, parse, url_hash

KNOWN_HREFS = 60_000  # remembered by their spelling, over all hosts


class LinkSieve:
    """Sorts links by scope, depth and what is known; one per worker."""

    def __init__(self, seen: SeenFilter, max_redirects: int) -> None:
        self._seen = seen
        self._max_redirects = max_redirects
        self._domains: dict[str, str | None] = {}
        self._hrefs: dict[str, set[str]] = {}
        self._hrefs_size = 0

    def known_hrefs(self, url: Url) -> set[str]:
        """Hrefs that, on any page of this origin, lead to a page the frontier holds."""
        return self._hrefs.setdefault(url.origin, set())

    def sift(
        self, lane: Lane, task: Task, url: Url, reading: PageReading
    ) -> tuple[list[NewPage], Counter[tuple[int, str]]]:
        """New pages, and counts of links refused by rule."""
        policy, depth = lane.policy, task.depth + 1
        too_deep = depth > policy.max_crawl_depth
        known = self._seen.of(lane.host)
        found: list[NewPage] = []
        refused: Counter[tuple[int, str]] = Counter()
        for href, link in zip(reading.hrefs, reading.links, strict=True):
            if link.authority == lane.host:
                if link.url_hash in known:
                    self._remember(url, href)
                    continue
            elif self._domain_of(link.authority) != policy.domain:
                refused[lane.host_id, "scope"] += 1
                continue
            elif link.url_hash in self._seen.of(link.authority):
                continue
            if link.nofollow:
                refused[lane.host_id, "nofollow"] += 1
            elif too_deep:
                refused[lane.host_id, "depth"] += 1
            else:
                found.append(self._page(lane, task, link, by="link", depth=depth, hops=0))
        return found, refused

    def _remember(self, url: Url, href: str) -> None:
        # What starts with a slash, and not with two, means the same on every page of its origin.
        if href[:1] == "/" and href[1:2] not in ("/", "\\"):
            self._hrefs_size += 1
            if self._hrefs_size > KNOWN_HREFS:
                self._hrefs.clear()
                self._hrefs_size = 0
            self.known_hrefs(url).add(href)

    def follow(self, lane: Lane, task: Task, location: str | None) -> tuple[list[NewPage], str]:
        """Where a redirect leads: a page of its own, or a sentence that says why it is not."""
        target = parse(location, task.url) if location else None
        if target is None:
            return [], "redirected to nowhere"
        if self._domain_of(target.authority) != lane.policy.domain:
            return [], f"redirected out of {lane.policy.domain} to {target.authority}"
        if task.hops >= self._max_redirects:
            return [], f"redirected more than {self._max_redirects} times"
        link = Link(target.href, target.authority, url_hash(target))
        if link.url_hash in self._seen.of(link.authority):
            return [], ""
        return [
            self._page(lane, task, link, by="redirect", depth=task.depth, hops=task.hops + 1)
        ], ""

    def _domain_of(self, authority: str) -> str | None:
        try:
            return self._domains[authority]
        except KeyError:
            if len(self._domains) > 100_000:
                self._domains.clear()
            host = authority.rpartition(":")[0] if ":" in authority else authority
            domain = self._domains[authority] = registrable_domain(host)
            return domain

    @staticmethod
    def _page(lane: Lane, task: Task, link: Link, *, by: str, depth: int, hops: int) -> NewPage:
        return NewPage(
            lane.policy.domain_id,
            link.authority,
            link.url_hash,
            link.href,
            by,
            task.page_id,
            depth,
            hops,
        )
