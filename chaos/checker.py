"""The offline checker: judges a finished run from its history alone.

It trusts the server's log before the database's: what the server saw is what happened. Each
function answers the offenders it found; `judge` turns them into the table of checks. The bytes
of the archive are `chaos.archive`'s.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise

from chaos.history import FaultKind, Fetch, History, Page, Request, Visit, by_host

GAP_TOLERANCE = 0.005  # between a request's writing here and its arrival there
CLOCK_TOLERANCE = 0.05  # between the server's clock and the database's
MATCH_SECONDS = 1.0  # a fetch row and its request are not further apart
UNFLUSHED_SECONDS = 2.0  # a flush comes every half second and takes its time under load


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the verdict."""

    name: str
    found: int | float
    bound: str
    ok: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Gap:
    host: str
    seconds: float
    first: Request
    second: Request


@dataclass(frozen=True, slots=True)
class Matching:
    """Requests and fetch rows, laid beside each other."""

    unrecorded: list[Request]  # served, but no row says so
    unserved: list[Fetch]  # a row, but the server saw no such request


def gaps(history: History) -> list[Gap]:
    """Between consecutive requests to one host, smallest first."""
    found = [
        Gap(host, second.arrived - first.arrived, first, second)
        for host, requests in by_host(history.requests).items()
        for first, second in pairwise(requests)
    ]
    return sorted(found, key=lambda gap: gap.seconds)


def early(history: History) -> list[Gap]:
    return [gap for gap in gaps(history) if gap.seconds < history.delay - GAP_TOLERANCE]


def most_at_once(history: History) -> int:
    """The most requests of one host that the server was answering at the same time."""
    most = 0
    for requests in by_host(history.requests).values():
        ends: list[float] = []
        for request in requests:
            ends = [end for end in ends if end > request.arrived]
            ends.append(max(request.answered, request.arrived))
            most = max(most, len(ends))
    return most


def overlaps(history: History) -> list[tuple[Visit, Visit]]:
    """Visits of one host of which the later began before the earlier had ended."""
    found = []
    for visits in by_host(history.visits).values():
        longest: Visit | None = None
        for visit in visits:
            if longest is not None and visit.claimed_at < longest.ended_at:
                found.append((longest, visit))
            if longest is None or visit.ended_at > longest.ended_at:
                longest = visit
    return found


def holder(visits: list[Visit], at: float) -> Visit | None:
    """The visit of a host within which a moment lies; the latest, where tolerance allows two."""
    for visit in reversed(visits):
        if visit.claimed_at - CLOCK_TOLERANCE <= at <= visit.ended_at + CLOCK_TOLERANCE:
            return visit
    return None


def outside_visits(history: History) -> list[Request]:
    """Requests at times when nobody held the lane."""
    visits = by_host(history.visits)
    return [r for r in history.requests if holder(visits.get(r.host, []), r.at) is None]


def lost_pages(history: History) -> set[Page]:
    """Pages of the simulated web that were never fetched well, or of which nothing was kept."""
    fetched = {fetch.page for fetch in history.fetches if fetch.outcome == "ok"}
    served = {request.page for request in history.requests}
    kept = {snapshot.page for snapshot in history.snapshots}
    return set(history.expected) - (fetched & served & kept)


def doubled(pages: list[Page]) -> set[Page]:
    """What is there more than once: the simulated web does not change during a run."""
    return {page for page, count in Counter(pages).items() if count > 1}


def match(history: History) -> Matching:
    """Give each fetch row the request of its page that is nearest in time."""
    served: dict[Page, list[Request]] = defaultdict(list)
    for request in history.requests:
        served[request.page].append(request)
    unserved = []
    for fetch in history.fetches:
        waiting = served.get(fetch.page, [])
        nearest = min(waiting, key=lambda request: abs(request.at - fetch.at), default=None)
        if nearest is None or abs(nearest.at - fetch.at) > MATCH_SECONDS:
            unserved.append(fetch)
        else:
            waiting.remove(nearest)
    return Matching([request for rest in served.values() for request in rest], unserved)


def refetches(history: History) -> int:
    """Requests for pages that had been asked for before."""
    return len(history.requests) - len({request.page for request in history.requests})


def unexplained(history: History, unrecorded: list[Request]) -> list[Request]:
    """Requests without a row that no fault can have cost it.

    A fault costs what its worker had fetched and not flushed. A crash of PostgreSQL can cost any
    worker's, until the leases it let run out have been replaced.
    """
    visits = by_host(history.visits)
    pids = {lease.id: lease.pid for lease in history.leases}
    found = []
    for request in unrecorded:
        visit = holder(visits.get(request.host, []), request.at)
        pid = pids.get(visit.lease, 0) if visit else 0
        if not any(
            fault.touches(
                pid,
                request.at,
                UNFLUSHED_SECONDS,
                history.lease_seconds if fault.kind is FaultKind.POSTGRES else 0.0,
            )
            for fault in history.faults
        ):
            found.append(request)
    return found


def lost_leases(history: History) -> list[int]:
    """Leases that ran out though nothing had been done to their worker."""
    return [
        lease.id
        for lease in history.leases
        if lease.reason == "expired"
        and not any(
            fault.touches(lease.pid, lease.ended_at, 0.0, 2 * history.lease_seconds)
            for fault in history.faults
        )
    ]
