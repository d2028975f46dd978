"""Hosts as shown to people: their state, their request delay, and the reason for it.

The delay is computed as in a claim (`messor.claim_lanes`), and its reason names the part that
decides.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from messor.politeness.risk import delay_of, level
from messor.store.database import Database

RECENT = 5  # friction signals shown per host

HOSTS = """
SELECT h.id, h.host, coalesce(h.id = d.main_host_id, false) AS is_main,
       messor.risk_at(h.risk_score, h.risk_at, n.t) AS risk,
       messor.critical_until(h.risk_score, h.risk_at) AS own_critical_until,
       messor.critical_until(m.risk_score, m.risk_at) AS main_critical_until, m.host AS main_host,
       coalesce(l.assisted_until > n.t, false) AS assisted, h.refusals, h.latency, l.slow,
       EXISTS (SELECT FROM messor.hosts c WHERE c.domain_id = h.domain_id AND c.caged) AS caged,
       CASE WHEN h.cooldown_until > n.t THEN h.cooldown_until END AS silent_until,
       CASE WHEN h.cooldown_until > n.t THEN h.cooldown_reason END AS silent_reason,
       d.crawl_delay_seconds AS own_delay, CASE WHEN l.mode_until > n.t THEN l.mode_delay END
         AS mode_delay, l.worker_id IS NOT NULL AS held, l.ready_at, h.last_request_at, n.t AS now,
       h.robots_id, h.robots_checked_at, r.verdict AS robots, r.reason AS robots_reason,
       greatest(r.crawl_delay, o.crawl_delay) AS crawl_delay, r.redirected_to AS robots_at,
       w.url AS robots_awaited, h.scheme, h.https_error, h.other_robots_id
  FROM messor.hosts h JOIN messor.domains d ON d.id = h.domain_id
  JOIN messor.lanes l ON l.host_id = h.id
  LEFT JOIN messor.hosts m ON m.id = d.main_host_id
  LEFT JOIN messor.robots_files r ON r.id = h.robots_id
  LEFT JOIN messor.robots_files o ON o.id = h.other_robots_id
  LEFT JOIN messor.robots_redirects e ON e.host_id = h.id
  LEFT JOIN messor.pages w ON w.id = e.page_id
 CROSS JOIN (SELECT messor.clock() AS t) n
 WHERE ($1::uuid IS NULL OR h.domain_id = $1) AND ($2::text IS NULL OR h.host = $2)
 ORDER BY is_main DESC, h.id LIMIT $3
"""

FRICTION = """
SELECT h.id AS host_id, f.occurred_at, f.signal, f.points, f.score, p.url
  FROM unnest($1::bigint[]) AS h (id)
 CROSS JOIN LATERAL (SELECT * FROM messor.friction_log f WHERE f.host_id = h.id
                      ORDER BY f.occurred_at DESC LIMIT $2) f
  LEFT JOIN messor.pages p ON p.id = f.page_id ORDER BY f.occurred_at DESC
"""


@dataclass(frozen=True, slots=True)
class Delay:
    """Seconds between two requests to a host, and the reason."""

    seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class Host:
    """The current state of a host."""

    id: int
    host: str
    is_main: bool
    delay: Delay
    risk: float
    risk_level: str
    critical_until: (
        datetime | None
    )  # not visited until then, due to its own or its main host's risk
    critical_host: str | None  # the host whose risk that is
    assisted: bool  # a reviewer requested pages despite the risk
    silent_until: datetime | None
    silent_reason: str | None
    refusals: int
    latency: float | None
    slow: bool
    caged: bool
    held: bool
    ready_at: datetime
    now: datetime  # by the database's clock
    last_request_at: datetime | None
    robots_id: int | None
    robots: str | None  # rules, allow_all, deny_all
    robots_reason: str | None
    robots_checked_at: datetime | None
    robots_at: str | None  # where it was read, if redirected
    robots_awaited: str | None  # where it is being read
    crawl_delay: float | None
    scheme: str | None  # scheme used for requests, and to which `robots` applies
    https_error: str | None  # why http is used instead of https
    other_robots_id: int | None  # the version for the other scheme
    friction: list[dict[str, Any]] = field(default_factory=list)

    @property
    def waits_seconds(self) -> float:
        """Seconds until its lane is ready."""
        return (self.ready_at - self.now).total_seconds()

    @property
    def is_left_alone(self) -> bool:
        return self.critical_until is not None and not self.assisted

    def robots_for(self, scheme: str) -> int | None:
        """The robots.txt version for a scheme."""
        return self.robots_id if self.scheme in (scheme, None) else self.other_robots_id


async def of_domain(
    database: Database, domain_id: UUID, default_delay: float, limit: int = 200
) -> list[Host]:
    """A domain's hosts, the main one first, each with its latest friction."""
    rows = await database.fetch(HOSTS, domain_id, None, limit)
    friction: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in await database.fetch(FRICTION, [row["id"] for row in rows], RECENT):
        signal = dict(row)
        friction[signal.pop("host_id")].append(signal)
    return [_host(row, default_delay, friction[row["id"]]) for row in rows]


async def find(database: Database, name: str, default_delay: float) -> Host | None:
    """A host by its name, without its friction signals."""
    rows = await database.fetch(HOSTS, None, name, 1)
    return _host(rows[0], default_delay, []) if rows else None


def _host(row: Any, default_delay: float, friction: list[dict[str, Any]]) -> Host:
    named = {name: row[name] for name in Host.__dataclass_fields__ if name in row}
    until, whose = _critical(row)
    return Host(
        **named,
        delay=_delay(row, default_delay),
        risk_level=level(row["risk"]),
        critical_until=until,
        critical_host=whose,
        friction=friction,
    )


def _critical(row: Any) -> tuple[datetime | None, str | None]:
    """The later end of criticality, of its own risk or its main host's, if in the future."""
    known = [
        (row["own_critical_until"], row["host"]),
        (row["main_critical_until"], row["main_host"]),
    ]
    ahead = [(until, host) for until, host in known if until is not None and until > row["now"]]
    return max(ahead, key=lambda one: one[0], default=(None, None))


def _delay(row: Any, default_delay: float) -> Delay:
    """The largest applicable delay; the first of equals."""
    if row["own_delay"] is not None:
        usual = Delay(row["own_delay"], "the domain's own delay")
    elif row["mode_delay"] is not None:
        usual = Delay(row["mode_delay"], "the ingestion in progress")
    else:
        usual = Delay(default_delay, "the default")
    risk = f"risk is {level(row['risk'])}"
    parts = [
        usual,
        Delay(row["crawl_delay"] or 0.0, "Crawl-delay in robots.txt"),
        Delay(delay_of(row["risk"]), risk),
    ]
    return max(parts, key=lambda part: part.seconds)
