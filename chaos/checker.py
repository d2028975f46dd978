"""The offline checker: judges a finished run from its history alone.

It trusts the server's log before the database's: what the server saw is what happened. Each
function answers the offenders it found; `judge` turns them into the table of checks. The bytes
of the archive are `chaos.archive`'s.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from chaos.history import (
    EVERYBODY,
    FaultKind,
    Fetch,
    History,
    Item,
    Page,
    Request,
    Snapshot,
    Visit,
    by_host,
)

GAP_TOLERANCE = 0.005  # between a request's writing here and its arrival there
CLOCK_TOLERANCE = 0.05  # between the server's clock and the database's
REFUSED = 429
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
    groups = by_host(history.requests).values()
    return max((_deepest(_under_way(requests)) for requests in groups), default=0)


def most_at_address(history: History) -> int:
    """The most requests of one address that the server was answering at the same time."""
    groups = _by_address(history, history.requests).values()
    return max((_deepest(_under_way(requests)) for requests in groups), default=0)


def most_visits_at_address(history: History) -> int:
    """The most visits of one address that were at work at the same time.

    A visit counts from its first request: the address of a new host is learned after its lane
    was claimed, and its slot is taken then.
    """
    sent = by_host(history.requests)
    groups = _by_address(history, history.visits).values()
    return max((_deepest(_at_work(visits, sent)) for visits in groups), default=0)


def _at_work(
    visits: Iterable[Visit], sent: Mapping[str, list[Request]]
) -> list[tuple[float, float]]:
    spans = []
    for visit in visits:
        within = (r.at for r in sent.get(visit.host, []) if r.at >= visit.claimed_at)
        begin = next(within, visit.ended_at)
        if begin < visit.ended_at:
            spans.append((begin, visit.ended_at))
    return spans


def _by_address(history: History, items: Iterable[Item]) -> dict[str, list[Item]]:
    groups: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        groups[history.addresses.get(item.host, item.host)].append(item)
    return groups


def _under_way(requests: Iterable[Request]) -> list[tuple[float, float]]:
    return [(request.arrived, max(request.answered, request.arrived)) for request in requests]


def _deepest(spans: Iterable[tuple[float, float]]) -> int:
    """How many of these spans of time overlap at most; where one ends, another may begin."""
    most = 0
    ends: list[float] = []
    for begin, end in sorted(spans):
        ends = [known for known in ends if known > begin]
        ends.append(end)
        most = max(most, len(ends))
    return most


@dataclass(frozen=True, slots=True)
class Intrusion:
    """A request that came before its host wanted to be asked again."""

    refusal: Request
    request: Request
    worker: int  # whom the host had asked for silence
    residual: bool  # that worker died before it could write down what it had heard

    def __str__(self) -> str:
        after = self.request.arrived - self.refusal.answered
        what = f"worker {self.worker} was killed" if self.residual else f"worker {self.worker}"
        return f"{self.request.host} {after:.1f} s after a 429 ({what})"


def intrusions(history: History) -> list[Intrusion]:
    """Requests inside a Retry-After; residual are those nobody alive could know of.

    Silence is committed with the record of the refusal. Where the record is missing because the
    worker was killed between the answer and the commit, the next holder of the lane cannot know.
    """
    unrecorded = set(match(history).unrecorded)
    visits = by_host(history.visits)
    found = []
    for requests in by_host(history.requests).values():
        for refusal in requests:
            until = refusal.answered + history.retry_after - GAP_TOLERANCE
            early = [r for r in requests if refusal.arrived < r.arrived < until]
            if refusal.status != REFUSED or not early:
                continue
            worker = _worker_of(history, holder(visits.get(refusal.host, []), refusal.at))
            residual = refusal in unrecorded and _was_killed(history, worker, refusal.at)
            found += [Intrusion(refusal, request, worker, residual) for request in early]
    return found


def _was_killed(history: History, worker: int, at: float) -> bool:
    """Whether a worker was killed so soon after a moment that it cannot have written it down."""
    return any(
        fault.kind is FaultKind.KILL and fault.touches(worker, at, UNFLUSHED_SECONDS, 0.0)
        for fault in history.faults
    )


def _worker_of(history: History, visit: Visit | None) -> int:
    """The process that held a visit; 0 when nobody did."""
    if visit is None:
        return 0
    return next((lease.pid for lease in history.leases if lease.id == visit.lease), 0)


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
    kept = {snapshot.page for snapshot in good_snapshots(history)}
    return set(history.expected) - (fetched & served & kept)


def good_snapshots(history: History) -> list[Snapshot]:
    """Those of content; what a refusal said is kept, too."""
    return [snapshot for snapshot in history.snapshots if snapshot.verdict is None]


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
    """Requests for pages that had been asked for before, and not been refused."""
    given = [request.page for request in history.requests if request.status != REFUSED]
    return len(given) - len(set(given))


def unexplained(history: History, unrecorded: list[Request]) -> list[Request]:
    """Requests without a row that no fault can have cost it.

    A fault costs what its worker had fetched and not flushed. A crash of PostgreSQL, or a cut on
    the way to it, can cost any worker's, until the leases it let run out have been replaced.
    """
    visits = by_host(history.visits)
    found = []
    for request in unrecorded:
        pid = _worker_of(history, holder(visits.get(request.host, []), request.at))
        if not any(
            fault.touches(
                pid,
                request.at,
                UNFLUSHED_SECONDS,
                history.lease_seconds if fault.kind in EVERYBODY else 0.0,
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
