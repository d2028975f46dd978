"""Lanes: one host's queue of due work, held by one worker at a time.

Claiming takes the lane, slots of its domain and slots of its address, in one statement for many
lanes; giving back sets when the lane is ready again. The frontier decides which tasks a lane
holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from messor.core import clock
from messor.politeness.lease import WorkerLease
from messor.politeness.pace import Pace
from messor.politeness.risk import HostRisk
from messor.politeness.robots import SCHEMES, RobotsInForce
from messor.store.database import Connection, Database
from messor.web.urls import Url, http_twin, scheme_of

# Lanes that will be ready within this time are claimed early and waited for, so that a lane's pace
# does not depend on when it was polled.
LOOK_AHEAD = 0.25

# Nothing is claimed while traffic is halted, by any worker.
CLAIM = """
SELECT * FROM messor.claim_lanes($1, CASE WHEN EXISTS (
  SELECT FROM messor.traffic_halts WHERE lifted_at IS NULL) THEN 0 ELSE $2 END, $3, $4, $5, $6,
                                 $7, $8)
"""

# A separate statement: it must see what a flush committed while the claim waited for it.
DESCRIBE = """
SELECT h.id AS host_id, h.host, h.robots_id, h.other_robots_id, h.scheme, h.spoke_https, h.https_error,
       l.address, l.slow, h.latency, h.refusals,
       EXISTS (SELECT FROM messor.hosts c WHERE c.domain_id = h.domain_id AND c.caged) AS caged,
       messor.risk_at(h.risk_score, h.risk_at, messor.clock()) AS risk,
       coalesce(l.assisted_until > messor.clock(), false) AS assisted,
       h.id = coalesce(d.main_host_id, h.id) AS is_main,
       d.status = 'approved' AS approved, d.id AS domain_id, d.domain, d.max_crawl_depth, d.page_budget, d.pages_known,
       d.policy_version, extract(epoch FROM d.scrape_frequency_hours * interval '1 hour')::float8
         AS frequency, d.harvest, d.on_block, d.render, d.directives, d.reservations,
       d.robots_forbidden, d.proxies, d.verify_tls, d.megabytes_per_day IS NOT NULL AS is_metered,
       EXISTS (SELECT FROM messor.traffic_limits x WHERE x.megabytes_per_day IS NOT NULL) AS all_metered, u.runs, u.listing_runs, u.delay AS run_delay
  FROM messor.hosts h JOIN messor.lanes l ON l.host_id = h.id
  JOIN messor.domains d ON d.id = h.domain_id
 CROSS JOIN LATERAL (
   SELECT array_agg(r.id) AS runs, array_agg(r.id) FILTER (WHERE r.sitemaps) AS listing_runs,
          max(r.delay) AS delay
     FROM messor.crawl_runs r WHERE r.domain_id = d.id AND r.ended_at IS NULL
      AND r.seen_at > messor.clock() - interval '60 seconds') u
 WHERE h.id = ANY ($1::bigint[])
"""

SETTLE = "SELECT * FROM messor.settle_addresses($1, $2, $3, $4, $5)"

# Rows are locked before the next statement computes their due time, so that a task added by
# another worker is either seen here or updates the lane afterwards.
LOCK = """
SELECT FROM messor.lanes WHERE host_id = ANY ($1::bigint[]) ORDER BY host_id FOR NO KEY UPDATE
"""

LOCK_HOSTS = """
SELECT FROM messor.lanes
 WHERE host_id IN (SELECT id FROM messor.hosts WHERE host = ANY ($1::text[]))
 ORDER BY host_id FOR NO KEY UPDATE
"""
LOCK_DOMAINS = """
SELECT FROM messor.lanes
 WHERE $1::uuid[] IS NULL
    OR host_id IN (SELECT id FROM messor.hosts WHERE domain_id = ANY ($1::uuid[]))
 ORDER BY host_id FOR NO KEY UPDATE
"""

GIVE_BACK = """
WITH given AS (
  SELECT * FROM unnest($2::bigint[], $3::bigint[], $4::float8[], $5::int[], $6::text[],
                       $7::real[], $8::smallint[], $9::bool[], $10::float8[])
           AS g (host_id, token, ready_in, pages, reason, latency, refusals, slow, good_ago)
), freed AS (
  UPDATE messor.lanes l
     SET worker_id = NULL, slots = 0, claimed_at = NULL, slow = n.slow, ready_at = n.ready_at, due_at = n.due_at,
         claim_at = CASE WHEN n.due_at IS NOT NULL THEN greatest(n.ready_at, n.due_at) END
    FROM (SELECT g.host_id, g.token, g.pages, g.reason, g.latency, g.refusals, g.slow, g.good_ago, o.claimed_at,
                 greatest(o.ready_at, messor.clock() + make_interval(secs => g.ready_in)) AS ready_at,
                 (SELECT min(first.due_at) FROM generate_series(0, 10) AS p (priority)
                    CROSS JOIN LATERAL (
                      SELECT t.due_at FROM messor.crawl_tasks t
                       WHERE t.host_id = g.host_id AND t.priority = p.priority
                         AND t.due_at IS NOT NULL ORDER BY t.due_at LIMIT 1) first) AS due_at
            FROM given g JOIN messor.lanes o USING (host_id)) n
   WHERE l.host_id = n.host_id AND l.token = n.token AND l.worker_id = $1
  RETURNING l.host_id, n.token, n.pages, n.reason, n.claimed_at, n.latency, n.refusals, n.good_ago
), requested AS (
  UPDATE messor.hosts h SET last_request_at = messor.clock(), latency = f.latency,
         refusals = f.refusals,
         last_good_at = coalesce(messor.clock() - make_interval(secs => f.good_ago), h.last_good_at)
    FROM freed f WHERE h.id = f.host_id AND f.pages > 0
)
UPDATE messor.visits v SET ended_at = messor.clock(), end_reason = f.reason, pages = f.pages
  FROM freed f
 WHERE v.host_id = f.host_id AND v.token = f.token AND v.claimed_at = f.claimed_at
"""

SILENCE = """
WITH given AS (
  SELECT DISTINCT ON (g.host_id) g.host_id, g.reason,
         messor.clock() + make_interval(secs => g.seconds) AS until
    FROM unnest($2::bigint[], $3::bigint[], $4::float8[], $5::text[])
         AS g (host_id, token, seconds, reason)
    JOIN messor.lanes l ON l.host_id = g.host_id AND l.token = g.token AND l.worker_id = $1
   ORDER BY g.host_id, g.seconds DESC
), told AS (
  UPDATE messor.hosts h SET cooldown_until = greatest(h.cooldown_until, g.until),
         cooldown_reason = g.reason, updated_at = messor.clock()
    FROM given g WHERE h.id = g.host_id
)
UPDATE messor.lanes l SET ready_at = greatest(l.ready_at, g.until)
  FROM given g WHERE l.host_id = g.host_id
"""

DISOWN = """
WITH lost AS (
  SELECT l.host_id, l.token, l.claimed_at FROM messor.lanes l
   WHERE l.worker_id = $1 AND NOT EXISTS (
     SELECT FROM unnest($2::bigint[], $3::bigint[]) AS k (host_id, token)
      WHERE k.host_id = l.host_id AND k.token = l.token)
   ORDER BY l.host_id FOR NO KEY UPDATE
), closed AS (
  UPDATE messor.visits v SET ended_at = messor.clock(), end_reason = 'answer_lost'
    FROM lost o
   WHERE v.host_id = o.host_id AND v.token = o.token AND v.claimed_at = o.claimed_at
)
UPDATE messor.lanes l SET worker_id = NULL, slots = 0, claimed_at = NULL,
       claim_at = CASE WHEN l.due_at IS NOT NULL THEN greatest(l.ready_at, l.due_at) END
  FROM lost o WHERE l.host_id = o.host_id
"""

# Lanes before hosts, as in a flush; the reverse order could deadlock.
LOCK_HOST = """
SELECT 1 FROM messor.lanes l JOIN messor.hosts h ON h.id = l.host_id
 WHERE h.host = $1 FOR NO KEY UPDATE OF l
"""

# A lane cannot be locked before it exists, so creating one is serialised.
LOCK_NEW_HOST = "SELECT pg_advisory_xact_lock(hashtextextended('messor.host.' || $1, 0))"

OPEN_HOST = """
WITH host AS (
  -- A host known only for another's robots.txt moves to its own domain.
  INSERT INTO messor.hosts (domain_id, host) VALUES ($1, $2)
  ON CONFLICT (host) DO UPDATE SET updated_at = messor.clock(), domain_id = excluded.domain_id
  RETURNING id, domain_id
), lane AS (
  INSERT INTO messor.lanes (host_id, domain_id) SELECT id, domain_id FROM host
  ON CONFLICT (host_id) DO UPDATE SET domain_id = excluded.domain_id
)
SELECT id FROM host
"""

SETTLE_MAIN_HOST = """
UPDATE messor.domains d SET main_host_id = h.id FROM messor.hosts h
 WHERE d.id = $1 AND h.host = $2 AND d.main_host_id IS NULL
"""

IS_HTTP_ONLY = """
SELECT h.https_error IS NOT NULL AND r.verdict <> 'deny_all' FROM messor.hosts h
  JOIN messor.robots_files r ON r.id = h.robots_id WHERE h.host = $1
"""

# Approval (also after a suspension) makes a domain's waiting lanes claimable.
WAKE_DOMAIN = """
UPDATE messor.lanes SET claim_at = greatest(ready_at, due_at)
 WHERE domain_id = $1 AND worker_id IS NULL AND due_at IS NOT NULL
"""


FAVOUR = "UPDATE messor.lanes SET priority = $2 WHERE domain_id = $1 AND priority <> $2"


@dataclass(frozen=True, slots=True)
class Policy:
    """A domain's terms when the lane was claimed."""

    domain_id: UUID
    domain: str
    max_crawl_depth: int
    page_budget: int
    pages_known: int
    version: int
    frequency: float | None  # seconds; None if the domain sets none
    harvest: str  # site: all pages; asked: only requested pages
    on_block: str  # respect: wait; failover: try the next provider
    render: str  # auto: use another provider if a gate requires it; never
    directives: str  # respect or ignore a page's noindex and nofollow
    reservations: str  # record or respect a page's reservation of rights
    robots_forbidden: str  # allow or deny if robots.txt answers 401 or 403
    proxies: str  # none or pool
    verify_tls: bool
    is_metered: bool  # what it sends is added up, as it has a cap
    all_metered: bool  # as all domains together have one


@dataclass(slots=True)
class Lane:
    """A held lane: the right to send requests to one host for one visit."""

    host_id: int
    token: int
    host: str
    claimed_at: datetime
    slots: int
    address: str | None
    policy: Policy
    pace: Pace
    robots: dict[str, RobotsInForce]  # by scheme
    robots_ids: dict[str, int]
    slow: bool  # its host responds slowly
    risk: HostRisk
    assisted: bool  # a reviewer requested its pages despite the risk
    is_main: bool  # the domain's main host
    sandboxed: bool  # a page of its domain crashed a worker: all are parsed in the sandbox
    approved: bool  # its domain; an unapproved one is held for its pre-flight only
    spoke_https: bool = False  # it has responded over https: http never replaces it
    https_error: str | None = None  # why http is used instead of https
    runs: tuple[UUID, ...] = ()  # open crawl runs of its domain
    listing_runs: tuple[UUID, ...] = ()  # those that include pages listed by sitemaps
    good_at: float | None = None  # when a page was last fetched well, on the deadline clock

    @property
    def good_ago(self) -> float | None:
        """Seconds since a page was fetched well in this visit."""
        return None if self.good_at is None else clock.now() - self.good_at

    def robots_for(self, href: str) -> RobotsInForce | None:
        """The robots.txt version that applies to a URL of this host."""
        return self.robots.get(scheme_of(href))

    @property
    def is_http_only(self) -> bool:
        """Whether https cannot be connected to, but http works."""
        return self.https_error is not None and self.has_way_in("http")

    def has_way_in(self, scheme: str) -> bool:
        """Whether a robots.txt was read that does not deny the whole scheme."""
        robots = self.robots.get(scheme)
        return robots is not None and robots.file.verdict != "deny_all"

    def adopt(self, scheme: str, robots: RobotsInForce) -> None:
        self.robots[scheme] = robots
        self.robots_ids[scheme] = robots.id
        self.pace.slow_down_to(robots.file.crawl_delay or 0.0)

    def note_https(self) -> None:
        """Note that the host responds over https: tasks are no longer redirected to http."""
        self.spoke_https, self.https_error = True, None


@dataclass(frozen=True, slots=True)
class WorkScope:
    """Restricts a worker to one domain, or to one crawl run's tasks."""

    domain_id: UUID | None = None
    run_id: UUID | None = None


async def claim(
    database: Database,
    lease: WorkerLease,
    wanted: int,
    default_delay: float,
    address_slots: int,
    *,
    slow_wanted: int | None = None,
    jitter: float = 0.0,
    ahead: float = LOOK_AHEAD,
    only: WorkScope | None = None,
) -> list[Lane]:
    """Claim up to `wanted` lanes that are ready within `ahead` seconds, few of them slow.

    A negative `ahead` claims lanes that have been ready for that long.
    """
    only = only or WorkScope()
    slow_wanted = wanted if slow_wanted is None else slow_wanted
    claimed = await database.fetch(
        CLAIM,
        lease.id,
        wanted,
        default_delay,
        address_slots,
        ahead,
        slow_wanted,
        only.domain_id,
        only.run_id,
    )
    if not claimed:
        return []
    now = clock.now()
    ids = [held["host_id"] for held in claimed]
    described = {row["host_id"]: row for row in await database.fetch(DESCRIBE, ids)}
    since = clock.now() - now  # waits count from the response
    return [_lane(held, described[held["host_id"]], lease, since, jitter) for held in claimed]


def _lane(held: Any, row: Any, lease: WorkerLease, since: float, jitter: float) -> Lane:
    # A run's delay may only slow its domain down.
    delay = max(held["delay"], row["run_delay"] or 0.0)
    return Lane(
        host_id=held["host_id"],
        token=held["token"],
        host=row["host"],
        claimed_at=held["claimed_at"],
        slots=held["slots"],
        address=row["address"],
        policy=_policy(row),
        pace=Pace(delay, max(held["ready_in"] - since, 0.0), lease, jitter),
        robots={},
        robots_ids=_robots_ids(row),
        slow=row["slow"],
        risk=HostRisk(row["risk"], row["refusals"], row["latency"]),
        assisted=row["assisted"],
        is_main=row["is_main"],
        sandboxed=row["caged"],
        approved=row["approved"],
        spoke_https=row["spoke_https"],
        https_error=row["https_error"],
        runs=tuple(row["runs"] or ()),
        listing_runs=tuple(row["listing_runs"] or ()),
    )


def _robots_ids(row: Any) -> dict[str, int]:
    """The robots.txt versions by scheme."""
    scheme = row["scheme"]
    if scheme is None:  # read by a release that had one version for both schemes
        known = dict.fromkeys(SCHEMES, row["robots_id"])
    else:
        other = "http" if scheme == "https" else "https"
        known = {scheme: row["robots_id"], other: row["other_robots_id"]}
    return {scheme: robots_id for scheme, robots_id in known.items() if robots_id is not None}


def _policy(row: Any) -> Policy:
    return Policy(
        row["domain_id"],
        row["domain"],
        row["max_crawl_depth"],
        row["page_budget"],
        row["pages_known"],
        row["policy_version"],
        row["frequency"],
        row["harvest"],
        row["on_block"],
        row["render"],
        row["directives"],
        row["reservations"],
        row["robots_forbidden"],
        row["proxies"],
        row["verify_tls"],
        row["is_metered"],
        row["all_metered"],
    )


async def disown(database: Database, lease: WorkerLease, known: dict[int, int]) -> None:
    """Give back lanes whose claim was committed but whose response was lost."""
    await database.fetch(DISOWN, lease.id, list(known), list(known.values()))


async def reap(database: Database) -> int:
    """End the leases of dead workers; their lanes become claimable after a safe delay."""
    reaped: int = await database.fetchval("SELECT messor.reap_workers()")
    return reaped


async def settle_addresses(
    database: Database, lease: WorkerLease, lanes: Sequence[Lane], address_slots: int
) -> dict[int, int]:
    """Take address slots for hosts just resolved; 0 means that the lane was given back."""
    rows = await database.fetch(
        SETTLE,
        lease.id,
        [lane.host_id for lane in lanes],
        [lane.token for lane in lanes],
        [lane.address for lane in lanes],
        address_slots,
    )
    return {row["host_id"]: row["slots"] for row in rows}


@dataclass(frozen=True, slots=True)
class Silence:
    """A host that gets no requests for a while, and why."""

    lane: Lane
    seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class GivenBack:
    """A lane whose visit has ended."""

    lane: Lane
    pages: int
    reason: str


async def lock(connection: Connection, host_ids: Iterable[int]) -> None:
    """Lock lanes in a fixed order, before their due times are computed."""
    await connection.execute(LOCK, list(host_ids))


async def lock_hosts(connection: Connection, hosts: Iterable[str]) -> None:
    """Lock lanes by host name; unknown names are skipped."""
    await connection.execute(LOCK_HOSTS, list(hosts))


async def lock_domains(connection: Connection, domain_ids: Sequence[UUID] | None) -> None:
    """Lock all lanes of the given domains, or of all domains."""
    await connection.execute(LOCK_DOMAINS, domain_ids)


async def favour(connection: Connection, domain_id: UUID, priority: int) -> None:
    """Set the priority of a domain's lanes, from 1 (first) to 10."""
    await lock_domains(connection, [domain_id])
    await connection.execute(FAVOUR, domain_id, priority)


async def silence(connection: Connection, worker_id: int, silences: Sequence[Silence]) -> None:
    """Send nothing to these hosts for a while; committed before the lane's next request."""
    await connection.execute(
        SILENCE,
        worker_id,
        [silence.lane.host_id for silence in silences],
        [silence.lane.token for silence in silences],
        [silence.seconds for silence in silences],
        [silence.reason for silence in silences],
    )


async def give_back(connection: Connection, worker_id: int, given: Sequence[GivenBack]) -> None:
    """End visits; any worker may claim the lanes once they are ready and due."""
    await connection.execute(
        GIVE_BACK,
        worker_id,
        [back.lane.host_id for back in given],
        [back.lane.token for back in given],
        [back.lane.pace.ready_in for back in given],
        [back.pages for back in given],
        [back.reason for back in given],
        [back.lane.risk.latency for back in given],
        [back.lane.risk.refusals for back in given],
        [back.lane.risk.is_slow for back in given],
        [back.lane.good_ago for back in given],
    )


async def open_host(connection: Connection, domain_id: UUID, host: str) -> int:
    """Return the host's id; create it and its lane if missing. Lock order: lane before host."""
    if await connection.fetchval(LOCK_HOST, host) is None:
        await connection.execute(LOCK_NEW_HOST, host)
        await connection.execute(LOCK_HOST, host)
    host_id: int = await connection.fetchval(OPEN_HOST, domain_id, host)
    return host_id


async def answering(connection: Connection, url: Url) -> Url:
    """The URL to fetch for a requested one: its http twin if only http works."""
    if url.scheme == "https" and await connection.fetchval(IS_HTTP_ONLY, url.authority):
        return http_twin(url.href) or url
    return url


async def settle_main_host(connection: Connection, domain_id: UUID, host: str) -> None:
    """Set the host by which a domain is judged, until its start page redirects elsewhere."""
    await connection.execute(SETTLE_MAIN_HOST, domain_id, host)


async def wake_domain(connection: Connection, domain_id: UUID) -> None:
    await connection.execute(WAKE_DOMAIN, domain_id)
