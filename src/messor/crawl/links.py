"""The link filter: which of a page's links enter the frontier, and why the others do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from messor.core import clock
from messor.frontier.categories import categorise, priority
from messor.frontier.depth import depth_after
from messor.frontier.pages import NewPage
from messor.frontier.runs import Join, is_root
from messor.frontier.seen import NEVER_FOUND, SeenFilter
from messor.frontier.tasks import ASKED_PRIORITY, Task
from messor.frontier.traps import is_plain, pattern_key, trap_of
from messor.politeness.lanes import Lane
from messor.web.html import PageReading
from messor.web.suffixes import registrable_domain
from messor.web.urls import Link, Url, host_of, parse, url_hash

KNOWN = "known"
KNOWN_HREFS = 60_000  # remembered as written, over all hosts
LISTED_DEPTH = 1  # of pages found in a sitemap
MADE_PAGES = 20_000  # remembered until committed, about half a second
NO_HREFS: AbstractSet[str] = frozenset()


@dataclass(slots=True)
class _Hrefs:
    """Hrefs as written that lead to pages on the frontier, at a depth, learned under these terms."""

    terms: int
    known: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Made:
    """New pages that the seen filter does not know yet, by URL hash; None for a trap."""

    token: int  # of the visit
    lessons: int  # of the seen filter, when it was last consulted
    pages: dict[bytes, NewPage | None] = field(default_factory=dict)


class RedirectTarget(NamedTuple):
    """Where a redirect leads: a page that is new to the frontier, or the reason why there is none."""

    pages: list[NewPage]
    error: str = ""
    leaves_domain: bool = False


class LinkFilter:
    """Filters links by scope, depth and what is known; one per worker."""

    def __init__(
        self, seen: SeenFilter, max_redirects: int, full_patterns: AbstractSet[tuple[str, str]]
    ) -> None:
        self._seen = seen
        self._max_redirects = max_redirects
        self._full_patterns = full_patterns
        self._domains: dict[str, str | None] = {}
        self._hrefs: dict[tuple[str, int], _Hrefs] = {}
        self._hrefs_size = 0
        self._made: dict[tuple[int, int], _Made] = {}
        self._made_size = 0

    def known_hrefs(self, url: Url, lane: Lane, task: Task) -> AbstractSet[str]:
        """Hrefs that, on any page of this origin and depth, lead to a page on the frontier.

        Only those learned under the lane's terms version: a purged domain returns under another.
        """
        hrefs = self._hrefs.get((url.origin, task.depth))
        return NO_HREFS if hrefs is None or hrefs.terms != lane.policy.version else hrefs.known

    def filter_links(
        self, lane: Lane, task: Task, url: Url, reading: PageReading
    ) -> tuple[list[NewPage], Counter[tuple[int, str]]]:
        """Return new pages, and counts of refused links by rule."""
        made = self._made_of(lane, depth_after(task.depth))
        page_of, respects = made.pages.get, lane.policy.directives == "respect"
        # Most unknown links were found a moment ago and wait for their commit.
        found = [
            None if link.nofollow and respects else page_of(link.url_hash) for link in reading.links
        ]
        refused: Counter[tuple[int, str]] = Counter()
        if not all(found):
            known = self._seen.of(lane.host)
            for number in [number for number, page in enumerate(found) if page is None]:
                link = reading.links[number]
                rule = self._refusal(lane, task, link, known)
                if rule is None:
                    anchor = reading.anchors[number]
                    page = found[number] = self._linked(made, lane, task, link, anchor)
                    rule = "trap" if page is None else None
                if rule is KNOWN:
                    self._remember(lane, task, url, (reading.hrefs[number], link))
                elif rule is not None:
                    refused[lane.host_id, rule] += 1
        return [page for page in found if page is not None], refused

    def _refusal(
        self, lane: Lane, task: Task, link: Link, known: Mapping[bytes, int]
    ) -> str | None:
        """The rule that refuses a link; KNOWN if no longer way leads to its page, None if accepted."""
        depth = depth_after(task.depth)
        if link.authority == lane.host:
            if known.get(link.url_hash, NEVER_FOUND) <= depth:
                return KNOWN
        elif self._domain_of(link.authority) != lane.policy.domain:
            return "scope"
        elif self._seen.knows(link.authority, link.url_hash, depth):
            return KNOWN
        if link.nofollow and lane.policy.directives == "respect":
            return "nofollow"
        # The page an ingestion starts from is named and awaited; its links are what it chooses from.
        is_start = task.is_named and task.priority <= ASKED_PRIORITY
        is_far = task.depth >= lane.policy.max_crawl_depth and not task.ahead
        return "depth" if is_far and not is_start else None

    def joins(self, lane: Lane, task: Task, reading: PageReading) -> list[Join]:
        """The linked pages that the task's runs discover, known or not."""
        respects = lane.policy.directives == "respect"
        links = [
            link
            for link in reading.links
            if not (link.nofollow and respects)
            and self._domain_of(link.authority) == lane.policy.domain
        ]
        return [
            Join(turn.run_id, link.authority, link.url_hash, turn.depth + 1)
            for turn in task.turns
            if turn.ahead > 0
            for link in links
        ]

    def _made_of(self, lane: Lane, depth: int) -> _Made:
        """New pages of this visit at this depth, minus those the seen filter knows by now."""
        self._seen.meet(lane.policy.domain, lane.policy.version)
        made = self._made.get((lane.host_id, depth))
        if made is None or made.token != lane.token:
            made = _Made(lane.token, self._seen.lessons)
            self._made[lane.host_id, depth] = made
            self._made_size += 1
        elif made.lessons != self._seen.lessons:
            made.lessons = self._seen.lessons
            known, pages = self._seen.of(lane.host), made.pages
            # Pages of other hosts are checked when they are found again.
            made.pages = {
                key: page
                for key, page in pages.items()
                if page is None
                or (page.host == lane.host and known.get(key, NEVER_FOUND) > page.depth)
            }
        return made

    def _linked(
        self, made: _Made, lane: Lane, task: Task, link: Link, anchor: str
    ) -> NewPage | None:
        """The page of a link; the same object for every mention until the seen filter knows it."""
        pages, key = made.pages, link.url_hash
        if key in pages:
            return pages[key]
        self._made_size += 1
        if self._made_size > MADE_PAGES:
            self._made.clear()
            self._made_size = 0
        depth = depth_after(task.depth)
        page = pages[key] = self._page(lane, task, link, by="link", depth=depth, anchor=anchor)
        return page

    def filter_listed(
        self, lane: Lane, task: Task, entries: Sequence[tuple[str, datetime | None]]
    ) -> tuple[list[NewPage], Counter[tuple[int, str]]]:
        """Filter the URLs of a sitemap, whose pages have depth 1; returns as `filter_links`."""
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

    def _remember(self, lane: Lane, task: Task, url: Url, found: tuple[str, Link]) -> None:
        href, link = found
        # An href with one leading slash means the same on every page of its origin, unless a page
        # has a <base>.
        if href[:1] != "/" or href[1:2] in ("/", "\\"):
            return
        origin, terms = url.origin, lane.policy.version
        if not link.href.startswith(f"{origin}/"):
            return
        self._hrefs_size += 1
        if self._hrefs_size > KNOWN_HREFS:
            self._hrefs.clear()
            self._hrefs_size = 0
        hrefs = self._hrefs.get((origin, task.depth))
        if hrefs is None or hrefs.terms != terms:
            hrefs = self._hrefs[origin, task.depth] = _Hrefs(terms)
        hrefs.known.add(href)

    def follow(self, lane: Lane, task: Task, location: str | None) -> RedirectTarget:
        """Return the page a redirect leads to, or why there is none."""
        target = parse(location, task.url) if location else None
        if target is None:
            return RedirectTarget([], "redirect without a valid target")
        if self._domain_of(target.authority) != lane.policy.domain:
            error = f"redirected out of {lane.policy.domain} to {target.authority}"
            return RedirectTarget([], error, leaves_domain=True)
        if task.hops >= self._max_redirects:
            return RedirectTarget([], f"redirected more than {self._max_redirects} times")
        link = Link(target.href, target.authority, url_hash(target))
        self._seen.meet(lane.policy.domain, lane.policy.version)
        start = lane.is_main and task.depth == 0 and is_root(task.url)
        if self._seen.knows(link.authority, link.url_hash, task.depth) and not start:
            return RedirectTarget([])
        # A request for the page is a request for its target.
        by = "manual" if task.is_named else "redirect"
        page = self._page(lane, task, link, by=by, depth=task.depth)
        if page is None:
            return RedirectTarget([], "redirected to a crawler trap")
        page.hops = task.hops + 1
        # An ingestion counts the target first.
        page.due = lane.policy.harvest == "site" or task.priority > ASKED_PRIORITY
        page.priority = min(page.priority, task.priority)
        page.is_main = start and target.authority != lane.host
        return RedirectTarget([page])

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
        """The page a link leads to; None if it is a trap."""
        href, pattern, policy = link.href, None, lane.policy
        if not is_plain(href):
            if trap_of(href, clock.this_year()) is not None:
                return None
            pattern = pattern_key(href)
            if pattern is not None and (link.authority, pattern) in self._full_patterns:
                return None
        category = categorise(href[href.find("/", 8) :], anchor)
        return NewPage(
            policy.domain_id,
            link.authority,
            link.url_hash,
            href,
            by,
            task.page_id,
            depth,
            0,
            finder=lane.host_id,
            category=None if category is None else category.name,
            priority=priority(category, depth, listing=pattern is not None),
            pattern=pattern,
            due=policy.harvest == "site" and depth <= policy.max_crawl_depth,
        )


def joins_of_redirect(task: Task, location: str | None) -> list[Join]:
    """The runs of a redirected page, joined to its target."""
    target = parse(location, task.url) if location and task.turns else None
    if target is None:
        return []
    key = url_hash(target)
    return [Join(turn.run_id, target.authority, key, turn.depth) for turn in task.turns]
