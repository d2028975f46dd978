"""The result of a politeness audit: per lane, in total, and single findings.

Findings are counted without limit and listed up to `MAX_LISTED`, so that a report stays small
however much went wrong.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

MAX_LISTED = 1000

# Kinds of findings, and their wording.
EARLY = "early"
OTHER_KINDS = {
    "robots": "against robots.txt",
    "no_robots": "without a robots.txt in force",
    "not_approved": "while the domain was not approved",
    "retry_after": "during a Retry-After",
    "critical": "while the host's risk was critical",
}
KINDS = (EARLY, *OTHER_KINDS)

# Edges of the histogram's bars: gap divided by the delay due.
EDGES = (0.5, 0.9, 1.0, 1.1, 1.5, 2.0, 5.0)


@dataclass(frozen=True, slots=True)
class PolitenessFinding:
    """A request that should not have been sent."""

    kind: str
    host: str
    url: str | None  # None if the page is gone from the frontier
    at: datetime
    why: str
    robots_id: int | None


@dataclass(frozen=True, slots=True)
class Gap:
    """The pause before one request, against the one due."""

    gap_ms: float
    due_ms: float
    at: datetime
    url: str | None

    @property
    def ratio(self) -> float:
        return self.gap_ms / self.due_ms


@dataclass(slots=True)
class RobotsUse:
    """A version of a robots.txt, and the requests it applied to."""

    robots_id: int
    read_at: datetime | None
    first: datetime
    last: datetime
    requests: int = 0


@dataclass(slots=True)
class LaneReport:
    """One lane's requests."""

    host: str
    requests: int = 0
    unanswered: int = 0  # possibly not sent; never judged for their gap
    gaps: int = 0  # judged
    unpaced: int = 0  # sent where no delay was requested
    smallest: Gap | None = None  # in proportion to what was due
    found: Counter[str] = field(default_factory=Counter)
    robots: list[RobotsUse] = field(default_factory=list)

    @property
    def early(self) -> int:
        return self.found[EARLY]

    @property
    def wrong(self) -> int:
        """Findings other than early ones; a request may have several."""
        return self.found.total() - self.early

    @property
    def pace(self) -> str:
        if self.gaps:
            return "judged"
        return "no delay requested" if self.unpaced else "nothing to compare"

    @property
    def badness(self) -> tuple[int, float, str]:
        """Sorts the worst lane first."""
        ratio = self.smallest.ratio if self.smallest else float("inf")
        return -self.found.total(), ratio, self.host


@dataclass(slots=True)
class PolitenessReport:
    """The result of an audit."""

    domain: str | None
    since: datetime | None
    lanes: list[LaneReport] = field(default_factory=list)  # worst first
    findings: list[PolitenessFinding] = field(default_factory=list)
    histogram: list[int] = field(default_factory=lambda: [0] * (len(EDGES) + 1))
    unknown_robots: int = 0  # requests whose robots version or page is gone: not checked

    def count(self, gap: Gap) -> None:
        self.histogram[bisect_right(EDGES, gap.ratio)] += 1

    def list_finding(self, finding: PolitenessFinding) -> None:
        if len(self.findings) < MAX_LISTED:
            self.findings.append(finding)

    @property
    def requests(self) -> int:
        return sum(lane.requests for lane in self.lanes)

    @property
    def found(self) -> Counter[str]:
        total: Counter[str] = Counter()
        for lane in self.lanes:
            total += lane.found
        return total

    @property
    def unanswered(self) -> int:
        return sum(lane.unanswered for lane in self.lanes)

    @property
    def is_clean(self) -> bool:
        return not self.found

    @property
    def unlisted(self) -> int:
        return self.found.total() - len(self.findings)

    @property
    def verdict(self) -> str:
        """The whole audit in one sentence."""
        if not self.requests:
            return "The log holds no requests of this period."
        found = self.found
        early = f"{found[EARLY]:,} of {self.requests:,} requests came early"
        others = [f"{found[kind]:,} {what}" for kind, what in OTHER_KINDS.items() if found[kind]]
        if not others:
            return f"{early}, and none was sent where it should not have been."
        return f"{early}; sent where they should not have been: {', '.join(others)}."

    def as_dict(self) -> dict[str, Any]:
        """The JSON form; its schema is described in `messor.cli.audit`."""
        found = self.found
        return {
            "domain": self.domain,
            "since": self.since,
            "verdict": self.verdict,
            "clean": self.is_clean,
            "totals": {
                "lanes": len(self.lanes),
                "requests": self.requests,
                "gaps": sum(lane.gaps for lane in self.lanes),
                "unpaced": sum(lane.unpaced for lane in self.lanes),
                "unanswered": self.unanswered,
                "unknown_robots": self.unknown_robots,
                "found": {kind: found[kind] for kind in KINDS},
            },
            "histogram": [
                {"from": low, "to": high, "gaps": gaps}
                for low, high, gaps in zip(
                    (0.0, *EDGES), (*EDGES, None), self.histogram, strict=True
                )
            ],
            "lanes": [_lane(lane) for lane in self.lanes],
            "findings": self.findings,
            "unlisted": self.unlisted,
        }


def _lane(lane: LaneReport) -> dict[str, Any]:
    smallest = lane.smallest
    return {
        "host": lane.host,
        "requests": lane.requests,
        "pace": lane.pace,
        "gaps": lane.gaps,
        "unpaced": lane.unpaced,
        "unanswered": lane.unanswered,
        "smallest": smallest
        and {
            "gap_ms": round(smallest.gap_ms, 1),
            "due_ms": round(smallest.due_ms, 1),
            "ratio": round(smallest.ratio, 4),
            "at": smallest.at,
            "url": smallest.url,
        },
        "found": {kind: lane.found[kind] for kind in KINDS},
        "robots": lane.robots,
    }
