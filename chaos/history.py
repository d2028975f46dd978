"""The history of a run: what the server saw, what the database recorded, what was done to both.

Plain values, so that the checker needs neither. Times are seconds of the Unix clock, except a
request's `arrived` and `answered`, which stay on the server's monotonic clock.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol, TypeVar


class Page(NamedTuple):
    """A page by its place in the simulated web."""

    host: str
    path: str


@dataclass(frozen=True, slots=True)
class Request:
    """One request as the server saw it."""

    page: Page
    arrived: float
    answered: float  # 0: never answered
    at: float  # arrival on the Unix clock
    status: int = 200

    @property
    def host(self) -> str:
        return self.page.host

    @property
    def moment(self) -> tuple[float, int]:
        return self.arrived, 0


@dataclass(frozen=True, slots=True)
class Fetch:
    """One row of the fetch log."""

    page: Page
    at: float
    outcome: str


@dataclass(frozen=True, slots=True)
class Visit:
    """One lane's lease: who held it, from when to when."""

    host: str
    token: int
    lease: int
    claimed_at: float
    ended_at: float  # of the visit, or of the worker lease it hung on

    @property
    def moment(self) -> tuple[float, int]:
        return self.claimed_at, self.token


@dataclass(frozen=True, slots=True)
class Lease:
    """One worker lease."""

    id: int
    pid: int
    ended_at: float
    reason: str  # stopped or expired


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One row of the snapshots, and where its bytes lie."""

    page: Page
    raw_hash: bytes
    segment: str
    offset: int
    length: int
    verdict: str | None = None  # None: good content


class FaultKind(StrEnum):
    KILL = "kill"
    STALL = "stall"
    POSTGRES = "postgres"
    CUT = "cut"  # nobody reaches PostgreSQL
    STEP = "step"  # the database's clock is wrong for a while


EVERYBODY = frozenset({FaultKind.POSTGRES, FaultKind.CUT})


@dataclass(frozen=True, slots=True)
class Fault:
    """What was done, and to whom; `until` is when the victim, or its server, was back."""

    kind: FaultKind
    pid: int
    at: float
    until: float

    def touches(self, pid: int, at: float, before: float, after: float) -> bool:
        """Whether it may have cost a request of a worker at that time its record."""
        if not self.at - before <= at <= self.until + after:
            return False
        return self.kind in EVERYBODY or self.pid == pid


@dataclass(slots=True)
class History:
    """All that is known of one run."""

    delay: float
    lease_seconds: float
    address_slots: int = 4
    retry_after: float = 0.0  # seconds that every 429 asks for
    addresses: dict[str, str] = field(default_factory=dict)  # of hosts
    expected: frozenset[Page] = frozenset()
    requests: list[Request] = field(default_factory=list)
    fetches: list[Fetch] = field(default_factory=list)
    visits: list[Visit] = field(default_factory=list)
    leases: list[Lease] = field(default_factory=list)
    snapshots: list[Snapshot] = field(default_factory=list)
    new_pages: list[Page] = field(default_factory=list)  # the change log's entries `new`
    faults: list[Fault] = field(default_factory=list)


class Placed(Protocol):
    """What happened at one host, at one time."""

    @property
    def host(self) -> str: ...

    @property
    def moment(self) -> tuple[float, int]: ...


Item = TypeVar("Item", bound=Placed)


def by_host(items: Iterable[Item]) -> dict[str, list[Item]]:
    """In order of time, for each host."""
    hosts: dict[str, list[Item]] = defaultdict(list)
    for item in sorted(items, key=lambda item: item.moment):
        hosts[item.host].append(item)
    return hosts
