"""A flush batch: everything that waits for the next flush."""

from __future__ import annotations

from asyncio import Future
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from messor.crawl.page_result import PageResult
from messor.frontier.pages import NewPage
from messor.frontier.runs import Join
from messor.frontier.sitemaps import SitemapReading
from messor.ledger.errors import LoggedError
from messor.ledger.events import Event
from messor.politeness.friction import Friction
from messor.politeness.lanes import GivenBack, Lane, Silence
from messor.politeness.robots import Adopted
from messor.politeness.robots_redirects import RobotsResult


@dataclass(frozen=True, slots=True)
class RobotsWait:
    """A robots task whose page was redirected to another host."""

    lane: Lane
    page_id: int
    target: NewPage
    hops: int
    own: bool  # the host's own robots.txt
    scheme: str  # the scheme it applies to


@dataclass(slots=True)
class FlushBatch:
    """Rows to be committed together, and the futures that wait for the commit."""

    results: list[PageResult] = field(default_factory=list)
    cut_off: list[PageResult] = field(
        default_factory=list
    )  # requests to log; nothing else of them is stored
    found: dict[tuple[str, bytes], NewPage] = field(default_factory=dict)
    joins: list[Join] = field(default_factory=list)
    refused_links: Counter[tuple[int, str]] = field(default_factory=Counter)
    robots: list[Adopted] = field(default_factory=list)
    robots_waits: list[RobotsWait] = field(default_factory=list)
    robots_results: list[RobotsResult] = field(default_factory=list)
    sitemaps: list[SitemapReading] = field(default_factory=list)
    friction: list[Friction] = field(default_factory=list)
    silences: list[Silence] = field(default_factory=list)
    given_back: list[GivenBack] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    faults: list[LoggedError] = field(default_factory=list)
    waiting: list[Future[None]] = field(default_factory=list)
    robots_ids: dict[tuple[int, str], int] = field(default_factory=dict)
    full_patterns: set[tuple[str, str]] = field(
        default_factory=set
    )  # found to be over budget by the flush
    number: int = 0  # of the flush; assigned at the first attempt
    parts: tuple[FlushBatch, FlushBatch] | None = (
        None  # its halves, once one of its rows was rejected
    )

    def __bool__(self) -> bool:
        return bool(
            self.results
            or self.cut_off
            or self.found
            or self.joins
            or self.given_back
            or self.robots
            or self.silences
            or self.friction
            or self.events
        )

    def add(self, result: PageResult) -> None:
        self.results.append(result)
        self.find(result.found)
        self.joins += result.joins

    def find(self, pages: Iterable[NewPage]) -> None:
        for page in pages:
            known = self.found.setdefault((page.host, page.url_hash), page)
            if page.depth < known.depth:
                known.come_nearer(page)

    def halves(self) -> tuple[FlushBatch, FlushBatch]:
        """Two batches with half the results each; the second carries everything else."""
        middle = len(self.results) // 2
        first, second = FlushBatch(), FlushBatch()
        for result in self.results[:middle]:
            first.add(result)
        for result in self.results[middle:]:
            second.add(result)
        # Found by a sitemap rather than with a page.
        of_pages = first.found.keys() | second.found.keys()
        second.find(page for key, page in self.found.items() if key not in of_pages)
        second.cut_off = [*self.cut_off]  # a copy: each half adds what it loses
        second.joins = self.joins  # after all pages were added
        second.refused_links = self.refused_links
        second.robots = self.robots
        second.robots_waits = self.robots_waits
        second.robots_results = self.robots_results
        second.sitemaps = self.sitemaps
        second.friction = self.friction
        second.silences = self.silences
        second.given_back = self.given_back
        second.events = self.events
        second.faults = self.faults
        return first, second

    @property
    def segment_ids(self) -> set[int]:
        """Segments that the rows of this batch will point into."""
        kept = [result.snapshot for result in self.results if result.snapshot is not None]
        own = {place.segment_id for snapshot in kept for place in snapshot.own_records}
        return own | {snapshot.place.segment_id for snapshot in kept}

    @property
    def leaves(self) -> list[FlushBatch]:
        """The batches actually written: itself, or its parts, recursively."""
        if self.parts is None:
            return [self]
        return [leaf for part in self.parts for leaf in part.leaves]

    def drop_snapshots(self) -> None:
        """Drop pages whose bytes could not be stored: tasks stay due, requests are logged."""
        lost = [result for result in self.results if result.snapshot is not None]
        self.results = [result for result in self.results if result.snapshot is None]
        if self.parts is not None:  # the parts are written, and log what is lost
            for part in self.parts:
                part.drop_snapshots()
            return
        self.cut_off += lost
        for result in lost:
            for page in result.found:
                self.found.pop((page.host, page.url_hash), None)
            result.cut_off()
        self.find(page for result in self.results for page in result.found)
