"""The behaviour contract: each check is evaluated on stored evidence.

A check passes if it examined something and found nothing broken, fails if something was broken, and
has no data if there was nothing to examine. Only an interface with a mode selector can check that
one exists: it passes the modes that it offers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

import msgspec

from messor.ingest.request import POLICY_VERSION, Mode
from messor.ops import contract_queries as queries
from messor.politeness.risk import EARLY_STOP, HIGH, POINTS
from messor.politeness.robots import RobotsCache
from messor.store.database import Database

WINDOW = timedelta(days=7)
ROBOTS_CACHE_SIZE = 64
MAX_EXAMPLES = 5

State = Literal["pass", "fail", "no data"]


@dataclass(frozen=True, slots=True)
class ContractCheck:
    """One check of the contract: its query and what its figures count."""

    id: str
    category: str
    title: str
    asks: str  # what must hold, in words
    counts: str  # what was examined
    also: str  # what the second figure counts
    sql: str | None = None


@dataclass(frozen=True, slots=True)
class ContractFinding:
    """What the evidence shows for a check."""

    examined: int = 0
    broken: int = 0
    examples: list[str] = field(default_factory=list)
    newest: str | None = None  # the newest run examined
    detail: int = 0

    @property
    def state(self) -> State:
        if self.broken:
            return "fail"
        return "pass" if self.examined else "no data"


@dataclass(frozen=True, slots=True)
class ContractVerdict:
    """A check with its finding."""

    check: ContractCheck
    found: ContractFinding

    @property
    def state(self) -> State:
        return self.found.state

    @property
    def figure(self) -> str:
        """The figures as text."""
        check, found = self.check, self.found
        if not found.examined:
            return f"no {check.counts} to check yet"
        figures = f"{check.counts} checked: {found.examined:,}, broken: {found.broken:,}"
        return f"{figures}; {check.also}: {found.detail:,}" if check.also else figures

    def as_dict(self) -> dict[str, Any]:
        fields = asdict(self.check) | asdict(self.found)
        return fields | {"state": self.state, "figure": self.figure}


@dataclass(frozen=True, slots=True)
class ContractReport:
    """All checks at one moment."""

    judged_at: datetime
    window: timedelta
    verdicts: list[ContractVerdict]

    @property
    def counts(self) -> Counter[str]:
        return Counter(verdict.state for verdict in self.verdicts)

    @property
    def is_kept(self) -> bool:
        """Whether nothing is broken; a check without data breaks nothing."""
        return not self.counts["fail"]

    @property
    def message(self) -> str:
        if self.is_kept:
            quiet = self.counts["no data"]
            more = f", {quiet} {'has' if quiet == 1 else 'have'} no data yet" if quiet else ""
            return f"{self.counts['pass']} of {len(self.verdicts)} checks hold{more}."
        broken = ", ".join(v.check.id for v in self.verdicts if v.state == "fail")
        return f"The contract is broken: {broken}."

    def as_dict(self) -> dict[str, Any]:
        return {
            "contract": POLICY_VERSION,
            "judged_at": self.judged_at,
            "window_hours": self.window / timedelta(hours=1),
            "kept": self.is_kept,
            "message": self.message,
            "checks": [verdict.as_dict() for verdict in self.verdicts],
        }


CHECKS = (
    ContractCheck(
        "INGEST_001", "ingestion", "nm_ingest evidence markers present",
        "Every finished run stores all eleven markers, they agree with the run, and every page it "
        "reports as fetched is in the request log.",
        "runs", "of them blocked", queries.EVIDENCE,
    ),
    ContractCheck(
        "INGEST_002", "ingestion", "Discovery-first URL acquisition",
        "A page that a run chose itself is fetched after robots.txt and after sitemap or homepage, "
        "and every source that the run names was read.",
        "runs that chose pages", "of them with a sitemap", queries.DISCOVERY,
    ),
    ContractCheck(
        "INGEST_003", "ingestion", "Robots.txt respect and parsing",
        "Every page was fetched under a stored version of robots.txt, and that version, parsed again "
        "now, allows it.",
        "requests", "versions of robots.txt parsed again", queries.ROBOTS,
    ),
    ContractCheck(
        "INGEST_004", "ingestion", "Adaptive throttling active",
        "Every pause, within a visit or between two, was as long as required, and at least 1.2 s from "
        "risk 21 and 2 s from 51.",
        "pauses", "at raised risk", queries.THROTTLING,
    ),
    ContractCheck(
        "INGEST_005", "ingestion", "Friction detection with early stop",
        f"Every 403, 429 and 503 is logged as friction, and after {EARLY_STOP} signals a visit "
        "requests no other page.",
        "requests that met or followed friction", "after friction in their visit", queries.FRICTION,
    ),
    ContractCheck(
        "INGEST_006", "ingestion", "URL caching with TTL",
        "What was fetched within 24 hours is taken from the cache, and nothing older is.",
        "pages known before their run", "taken from the cache", queries.CACHING,
    ),
    ContractCheck(
        "INGEST_007", "ingestion", "Mode selector UI available",
        "The website intelligence page, as rendered now, offers every mode.",
        "modes", "",
    ),
    ContractCheck(
        "COMPLY_001", "compliance", "Bot protection handling",
        "A run that was blocked has that outcome, names the signals, uses no content from block "
        "pages, and reports them.",
        "runs that met protection", "ended blocked", queries.PROTECTION,
    ),
    ContractCheck(
        "COMPLY_002", "compliance", "Domain risk tracking",
        "Every signal adds the contract's points to its host's score, and the run reports "
        "the resulting score.",
        "signals", f"led above {HIGH:g}", queries.RISK,
    ),
)  # fmt: skip


async def audit(
    database: Database,
    *,
    agent: str,
    offered: Collection[str] | None = None,
    window: timedelta = WINDOW,
) -> ContractReport:
    """Run every check; `offered` are the modes of the caller's selector, None if it has none."""
    asking: dict[str, Callable[[ContractCheck], Awaitable[ContractFinding]]] = {
        "INGEST_001": lambda check: _run_check(database, check, window, POLICY_VERSION),
        "INGEST_003": lambda check: _check_robots(database, check, window, agent),
        "INGEST_005": lambda check: _run_check(database, check, window, EARLY_STOP),
        "COMPLY_002": lambda check: _run_check(
            database, check, window, msgspec.json.encode(POINTS).decode()
        ),
    }
    verdicts = []
    for check in CHECKS:
        if check.sql is None:
            found = judge_modes(offered)
        else:
            ask = asking.get(check.id)
            found = await ask(check) if ask else await _run_check(database, check, window)
        verdicts.append(ContractVerdict(check, found))
    return ContractReport(await database.fetchval("SELECT messor.clock()"), window, verdicts)


def judge_modes(offered: Collection[str] | None) -> ContractFinding:
    """Whether a selector offers every mode and nothing else."""
    if offered is None:
        return ContractFinding()
    wanted = [mode.value for mode in Mode]
    faults = [f"{mode} is not offered" for mode in wanted if mode not in offered]
    faults += [f"{mode} is offered but unknown" for mode in offered if mode not in wanted]
    return ContractFinding(len(wanted), len(faults), faults[:MAX_EXAMPLES])


async def _run_check(
    database: Database, check: ContractCheck, window: timedelta, *more: object
) -> ContractFinding:
    assert check.sql is not None
    row = await database.fetchrow(check.sql, window, *more)
    assert row is not None
    return ContractFinding(**{**row, "examples": list(row["examples"])})


async def _check_robots(
    database: Database, check: ContractCheck, window: timedelta, agent: str
) -> ContractFinding:
    """Check pages by parsing the stored robots.txt, which SQL cannot do."""
    assert check.sql is not None
    rows = await database.fetch(check.sql, window)
    versions = {row["robots_id"] for row in rows} - {None}
    robots = await RobotsCache(database, agent, max(ROBOTS_CACHE_SIZE, len(versions))).get(versions)

    def faults() -> Iterator[str]:
        for row in rows:
            version = robots.get(row["robots_id"])
            if version is None:
                yield f"{row['trace_id'][:8]}: {row['url']} was fetched without robots.txt"
                continue
            objection = version.objection(agent, row["url"])
            if objection is not None:
                yield f"{row['trace_id'][:8]}: {row['url']}: {objection.reason}"

    broken = list(faults())
    newest = rows[0]["trace_id"] if rows else None
    return ContractFinding(len(rows), len(broken), broken[:MAX_EXAMPLES], newest, len(versions))
