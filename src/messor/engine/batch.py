"""A batch: everything that waits for the next flush."""

from __future__ import annotations

from asyncio import Future
from collections import Counter
from dataclasses import dataclass, field

from messor.courtesy.lanes import GivenBack, Lane, Silence
from messor.courtesy.robots import RobotsFile
from messor.engine.harvest import Harvest
from messor.frontier.pages import NewPage
from messor.ledger.errors import Fault
from messor.ledger.events import Event


@dataclass(slots=True)
class Batch:
    """Rows to be committed together, and who waits to hear of it."""

    harvests: list[Harvest] = field(default_factory=list)
    found: dict[tuple[str, bytes], NewPage] = field(default_factory=dict)
    refused_links: Counter[tuple[int, str]] = field(default_factory=Counter)
    robots: list[tuple[Lane, RobotsFile]] = field(default_factory=list)
    silences: list[Silence] = field(default_factory=list)
    given_back: list[GivenBack] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    waiting: list[Future[None]] = field(default_factory=list)
    robots_ids: dict[int, int] = field(default_factory=dict)
    number: int = 0  # of the flush; given when it is first tried
    parts: tuple[Batch, Batch] | None = None  # its halves, once a row in it was refused

    def __bool__(self) -> bool:
        return bool(self.harvests or self.given_back or self.robots or self.silences or self.events)

    def add(self, harvest: Harvest) -> None:
        self.harvests.append(harvest)
        for page in harvest.found:
            self.found.setdefault((page.host, page.url_hash), page)

    def halves(self) -> tuple[Batch, Batch]:
        """Two batches with half the harvests each; the second carries all that closes."""
        middle = len(self.harvests) // 2
        first, second = Batch(), Batch()
        for harvest in self.harvests[:middle]:
            first.add(harvest)
        for harvest in self.harvests[middle:]:
            second.add(harvest)
        second.refused_links = self.refused_links
        second.robots = self.robots
        second.silences = self.silences
        second.given_back = self.given_back
        second.events = self.events
        second.faults = self.faults
        return first, second

    def drop_snapshots(self) -> None:
        """Forget pages whose bytes could not be stored: their tasks stay due."""
        for part in self.parts or ():
            part.drop_snapshots()
        kept = [harvest for harvest in self.harvests if harvest.snapshot is None]
        self.harvests = []
        self.found = {}
        for harvest in kept:
            self.add(harvest)
