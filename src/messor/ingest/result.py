"""The result of a run: a result per page, one outcome, and the evidence for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from messor.fetch.outcome import Outcome as Fetch
from messor.ingest.request import POLICY_VERSION
from messor.ingest.tiles import Tile

MESSAGE_SENTENCES = 2  # of the guidance, in a message


class PlannedPageResult(StrEnum):
    """The result of a planned page within its run."""

    USED = "used"
    ABSENT = "absent"  # the page does not exist
    DENIED = "denied"  # robots.txt, the page itself or another rule forbids it
    REDIRECTED = "redirected"
    BLOCKED = "blocked"
    FAILED = "failed"
    UNREACHED = "unreached"  # the run ended first


class RunOutcome(StrEnum):
    SUCCESS = "success"
    PARTIAL = "partial"
    BLOCKED = "blocked"
    ERROR = "error"


_BY_OUTCOME: dict[str, PlannedPageResult] = {
    Fetch.OK: PlannedPageResult.USED,
    Fetch.UNCHANGED: PlannedPageResult.USED,
    Fetch.REDIRECTED: PlannedPageResult.REDIRECTED,
    Fetch.NOT_FOUND: PlannedPageResult.ABSENT,
    Fetch.NOT_HTML: PlannedPageResult.ABSENT,
    Fetch.REDIRECTED_OUT: PlannedPageResult.ABSENT,
    Fetch.ROBOTS: PlannedPageResult.DENIED,
    Fetch.BLOCKED: PlannedPageResult.BLOCKED,
}


def result_of(
    outcome: str | None, *, answered: bool, refused: bool, good: bool
) -> PlannedPageResult:
    """Classify the result of a page; `answered` within this run or from the cache."""
    if refused:
        return PlannedPageResult.DENIED
    if not answered or outcome is None:
        return PlannedPageResult.UNREACHED
    named = _BY_OUTCOME.get(outcome, PlannedPageResult.FAILED)
    return PlannedPageResult.FAILED if named is PlannedPageResult.USED and not good else named


@dataclass(frozen=True, slots=True)
class IngestedPage:
    """One page of the plan."""

    url: str
    result: PlannedPageResult
    outcome: str | None  # of the fetch, or the rule that refused it
    status: int | None
    reason: str  # why it was chosen
    cached: bool
    fetched: bool
    message: str | None  # what went wrong, for display
    verdict: str | None = None  # of content that failed a gate
    snapshot_id: int | None = None
    title: str | None = None
    markdown: str | None = None  # set whenever content arrived, whatever the verdict


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Friction met during the run, and the current state of the site's hosts."""

    friction: list[str]  # "403:example.com/admin"
    risk: int
    silenced: list[str]  # hosts that are not contacted, and why
    robots_refused: list[str]  # why a robots.txt forbids everything
    unreachable: list[str]  # hosts whose robots.txt could not be fetched
    has_worker: bool


@dataclass(frozen=True, slots=True)
class Ingestion:
    """A finished run."""

    trace_id: str
    orbit: str
    domain: str
    url: str
    mode: str
    outcome: RunOutcome
    sources: list[str]
    pages: list[IngestedPage]
    tiles: list[Tile]
    circumstances: Circumstances
    duration_ms: int
    out_of_time: bool = False
    guidance: list[str] = field(default_factory=list)
    offers: list[dict[str, str]] = field(default_factory=list)  # next steps if nothing came
    limited_to: int | None = None  # pages, because of the domain's risk

    @property
    def is_success(self) -> bool:
        return self.outcome in (RunOutcome.SUCCESS, RunOutcome.PARTIAL)

    @property
    def evidence(self) -> dict[str, Any]:
        """The `nm_ingest` evidence, field by field as specified; an error explains itself."""
        hits = sum(page.cached for page in self.pages)
        evidence: dict[str, Any] = {
            "traceId": self.trace_id,
            "nm_policyVersion": POLICY_VERSION,
            "nm_ingest": {
                "mode": self.mode,
                "discoverySources": self.sources,
                "pagesPlanned": len(self.pages),
                "pagesFetched": sum(page.fetched for page in self.pages),
                "pagesUsed": sum(page.result is PlannedPageResult.USED for page in self.pages),
                "cacheHits": hits,
                "cacheMisses": len(self.pages) - hits,
                "outcome": self.outcome.value,
                "frictionSignals": self.circumstances.friction,
                "domainRiskScore": self.circumstances.risk,
                "durationMs": self.duration_ms,
            },
        }
        if self.outcome is RunOutcome.ERROR:
            evidence["error"] = self._error
        return evidence

    def as_response(self) -> dict[str, Any]:
        """The specified response; one without content says why, and what can be done."""
        response: dict[str, Any] = {
            "success": self.is_success,
            "tiles": [tile.as_json() for tile in self.tiles],
            "evidence": self.evidence,
        }
        if self.outcome is RunOutcome.BLOCKED:
            response["blocked"] = {
                "friction": self.circumstances.friction,
                "guidance": self.guidance,
                "offers": self.offers,
            }
        if self.outcome is RunOutcome.ERROR:
            response["error"] = self._error
        return response

    @property
    def message(self) -> str:
        """Why nothing came, in a sentence or two."""
        why = " ".join(self.guidance[:MESSAGE_SENTENCES])
        return f"No content was read from {self.domain}: {why}"

    @property
    def _error(self) -> dict[str, Any]:
        return {"message": self.message, "guidance": self.guidance, "offers": self.offers}


def judge(pages: Sequence[IngestedPage], circumstances: Circumstances) -> RunOutcome:
    """One outcome for the run."""
    results = Counter(page.result for page in pages)
    met_friction = bool(circumstances.friction or results[PlannedPageResult.BLOCKED])
    if results[PlannedPageResult.USED]:
        failures = results[PlannedPageResult.FAILED] + results[PlannedPageResult.UNREACHED]
        return RunOutcome.PARTIAL if met_friction or failures else RunOutcome.SUCCESS
    refused = circumstances.robots_refused or results[PlannedPageResult.DENIED]
    if met_friction or refused or circumstances.silenced:
        return RunOutcome.BLOCKED
    return RunOutcome.ERROR
