"""Links become pages: which of a page's links enter the frontier, and why the others do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime

from messor.courtesy.lanes import Lane
from messor.frontier.categories import categorise, priority
from messor.frontier.pages import NewPage
from messor.frontier.seen import SeenFilter
from messor.frontier.tasks import ASKED_PRIORITY, Task
from messor.frontier.traps import pattern_key, trap_of
from messor.kit import clock
from messor.web.html import PageReading
from messor.web.suffixes import registrable_domain
from messor.web.urls import Link, Url, host_of, parse, url_hash

KNOWN_HREFS = 60_000  # remembered by their spelling, over all hosts
LISTED_DEPTH = 1  # of pages found in a sitemap
MADE_PAGES = 20_000  # remembered until they are committed, which takes half a second


class LinkSieve:
    """Sorts links by scope, depth and what is known; one per worker."""

    def __init__(
        self, seen: SeenFilter, max_redirects: int, full_patterns: AbstractSet[tuple[str, str]]
    ) -> None:
        self._seen = seen
        self._max_redirects = max_redirects
        self._full_patterns = full_patterns
        self._domains: dict[str, str | None] = {}
        self._hrefs: dict[str, set[str]] = {}
        self._hrefs_size = 0
        self._made: dict[tuple[int, int, bytes, int], NewPage | None] = {}

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
        for href, anchor, link in zip(reading.hrefs, reading.anchors, reading.links, strict=True):
            if link.authority == lane.host:
                if link.url_hash in known:
                    self._remember(url, href)
                    continue
            elif self._domain_of(link.authority) != policy.domain:
                refused[lane.host_id, "scope"] += 1
                continue
            elif link.url_hash in self._seen.of(link.authority):
                continue
            if link.nofollow and policy.directives == "respect":
                refused[lane.host_id, "nofollow"] += 1
            elif too_deep:
                refused[lane.host_id, "depth"] += 1
            else:
                page = self._linked(lane, task, link, depth, anchor)
                if page is None:
                    refused[lane.host_id, "trap"] += 1
                else:
                    found.append(page)
        return found, refused

    def _linked(
        self, lane: Lane, task: Task, link: Link, depth: int, anchor: str
    ) -> NewPage | None:
        """The page of a link; the same for all that mention it until the filter knows of it."""
        key = (lane.host_id, lane.token, link.url_hash, depth)
        try:
            return self._made[key]
        except KeyError:
            if len(self._made) >= MADE_PAGES:
                self._made.clear()
            page = self._made[key] = self._page(
                lane, task, link, by="link", depth=depth, anchor=anchor
            )
            return page

    def sift_listed(
        self, lane: Lane, task: Task, entries: Sequence[tuple[str, datetime | None]]
    ) -> tuple[list[NewPage], Counter[tuple[int, str]]]:
        """The same for what a sitemap lists; pages it lists lie at depth 1."""
        found: list[NewPage] = []
        refused: Counter[tuple[int, str]] = Counter()
        if lane.policy.max_crawl_depth < LISTED_DEPTH:
            refused[lane.host_id, "depth"] += len(entries)
            return found, refused
        for text, lastmod in entries:
            url = parse(text, task.url)
            if url is None or not self.is_within(lane, url.authority):
                refused[lane.host_id, "scope"] += 1
                continue
            link = Link(url.href, url.authority, url_hash(url))
            page = self._page(lane, task, link, by="sitemap", depth=LISTED_DEPTH)
            if page is None:
                refused[lane.host_id, "trap"] += 1
            else:
                page.lastmod = lastmod
                found.append(page)
        return found, refused

    def is_within(self, lane: Lane, authority: str) -> bool:
        """Whether a host belongs to the lane's domain."""
        return self._domain_of(authority) == lane.policy.domain

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
        start = lane.is_main and task.depth == 0 and is_root(task.url)
        if link.url_hash in self._seen.of(link.authority) and not start:
            return [], ""
        page = self._page(lane, task, link, by="redirect", depth=task.depth)
        if page is None:
            return [], "redirected into a trap"
        page.hops = task.hops + 1
        # Whoever asked for the page asked for where it leads; an ingestion counts that first.
        page.due = lane.policy.harvest == "site" or task.priority > ASKED_PRIORITY
        page.priority = min(page.priority, task.priority)
        page.is_main = start and target.authority != lane.host
        return [page], ""

    def _domain_of(self, authority: str) -> str | None:
        try:
            return self._domains[authority]
        except KeyError:
            if len(self._domains) > 100_000:
                self._domains.clear()
            domain = self._domains[authority] = registrable_domain(host_of(authority))
            return domain

    def _page(
        self, lane: Lane, task: Task, link: Link, *, by: str, depth: int, anchor: str = ""
    ) -> NewPage | None:
        """The page a link leads to; None when that would be a trap."""
        if trap_of(link.href, clock.this_year()) is not None:
            return None
        path = "/" + link.href.partition("://")[2].partition("/")[2]
        category = categorise(path, anchor)
        pattern = pattern_key(link.href)
        if pattern is not None and (link.authority, pattern) in self._full_patterns:
            return None
        return NewPage(
            lane.policy.domain_id,
            link.authority,
            link.url_hash,
            link.href,
            by,
            task.page_id,
            depth,
            0,
            finder=lane.host_id,
            category=category.name if category else None,
            priority=priority(category, depth, listing=pattern is not None),
            pattern=pattern,
            due=lane.policy.harvest == "site",
        )


def is_root(url: str) -> bool:
    return url.count("/") == 3 and url.endswith("/")
