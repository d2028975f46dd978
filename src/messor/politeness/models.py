"""Tables: hosts, lanes and the leases on them."""

from __future__ import annotations

from datetime import date
from uuid import UUID

from sqlalchemy.orm import Mapped

from messor.store.base import (
    Base,
    Keyless,
    belongs_to,
    bigint,
    bigint_key,
    by_month,
    check,
    column,
    ctext,
    index,
    json,
    real,
    smallint,
    stored,
    utc,
    utc_now,
)


class HostTable(Base):
    """A host: robots.txt in force, risk, cool-down."""

    __tablename__ = "hosts"
    __table_args__ = (index("hosts_domain", "domain_id"), stored(fillfactor=80))

    id: Mapped[bigint_key]
    domain_id: Mapped[UUID] = column(belongs_to("domains.id"))
    host: Mapped[ctext] = column(unique=True)  # authority: name, and port unless the default
    risk_score: Mapped[real] = column(default="0", check="risk_score BETWEEN 0 AND 100")
    risk_at: Mapped[utc | None]
    cooldown_until: Mapped[utc | None]  # told to be silent until then (Retry-After)
    cooldown_reason: Mapped[str | None]
    robots_id: Mapped[bigint | None]  # the version in force
    robots_checked_at: Mapped[utc | None]
    last_request_at: Mapped[utc | None]
    created_at: Mapped[utc_now]
    updated_at: Mapped[utc_now]
    latency: Mapped[real | None]  # seconds to an answer, a moving average
    refusals: Mapped[smallint] = column(default="0")  # answers in a row that asked for silence
    caged: Mapped[bool] = column(default="false")  # a page of it ended its reader's process
    # A robots.txt counts for the scheme it was read from (RFC 9309 2.3): `robots_id` for this one,
    # `other_robots_id` for the other. NULL: nothing was read yet.
    scheme: Mapped[str | None] = column(check="scheme IN ('https', 'http')")
    other_robots_id: Mapped[bigint | None]
    spoke_https: Mapped[bool] = column(default="false")  # then http never stands in for it
    https_error: Mapped[str | None]  # why http is used in place of https
    last_good_at: Mapped[utc | None]  # when a page of it was last fetched well


class FrictionLogTable(Keyless):
    """A friction signal, and the risk score it led to."""

    __tablename__ = "friction_log"
    __table_args__ = (
        index("friction_log_host", "host_id, occurred_at DESC"),
        by_month("occurred_at"),
    )

    occurred_at: Mapped[utc]
    host_id: Mapped[bigint]
    page_id: Mapped[bigint | None]
    signal: Mapped[str]
    points: Mapped[real]
    score: Mapped[real]


class RobotsFileTable(Base):
    """A version of a host's robots.txt; a refresh that changes nothing adds none."""

    __tablename__ = "robots_files"
    __table_args__ = (index("robots_files_host", "host_id, id DESC"),)

    id: Mapped[bigint_key]
    host_id: Mapped[bigint] = column(belongs_to("hosts.id"))
    verdict: Mapped[str] = column(check="verdict IN ('rules', 'allow_all', 'deny_all')")
    reason: Mapped[str]
    status_code: Mapped[smallint | None]
    body: Mapped[bytes]
    body_hash: Mapped[bytes]
    crawl_delay: Mapped[real | None]
    fetched_at: Mapped[utc_now]
    signals: Mapped[json | None]  # Content-Signal lines
    redirected_to: Mapped[str | None]
    scheme: Mapped[str | None] = column(check="scheme IN ('https', 'http')")
    # The lines about use that count for us; NULL: read before they were kept.
    usage_lines: Mapped[json | None]


class RobotsRedirectTable(Base):
    """A robots.txt found elsewhere: the host waits for what that page says."""

    __tablename__ = "robots_redirects"
    __table_args__ = (index("robots_redirects_page", "page_id"),)

    host_id: Mapped[bigint] = column(belongs_to("hosts.id"), key=True)
    page_id: Mapped[bigint]  # the robots task that will answer for it
    hops: Mapped[smallint]
    schemes: Mapped[list[str]] = column(default="'{https,http}'")


class WorkerLeaseTable(Base):
    """A worker session's lease."""

    __tablename__ = "worker_leases"
    __table_args__ = (
        index("worker_leases_live", "expires_at", "ended_at IS NULL"),
        stored(fillfactor=50, autovacuum_vacuum_threshold=200, autovacuum_vacuum_scale_factor=0),
    )

    id: Mapped[bigint_key]
    name: Mapped[str]
    started_at: Mapped[utc_now]
    expires_at: Mapped[utc]
    flushes: Mapped[bigint] = column(default="0")  # number of the last flush that committed
    ended_at: Mapped[utc | None]
    end_reason: Mapped[str | None] = column(check="end_reason IN ('stopped', 'expired')")


class LaneTable(Base):
    """A host's queue; claimed by `claim_at` and its domain's priority, so that a claim never scans tasks."""

    __tablename__ = "lanes"
    __table_args__ = (
        index(
            "lanes_turn",
            "messor.lane_turn(claim_at, priority), claim_at",
            "worker_id IS NULL AND claim_at IS NOT NULL",
        ),
        index("lanes_held_domain", "domain_id", "worker_id IS NOT NULL"),
        index("lanes_held_address", "address", "worker_id IS NOT NULL"),
        index("lanes_held_worker", "worker_id", "worker_id IS NOT NULL"),
        stored(fillfactor=50, autovacuum_vacuum_threshold=500, autovacuum_vacuum_scale_factor=0.02),
    )

    host_id: Mapped[bigint] = column(belongs_to("hosts.id"), key=True)
    domain_id: Mapped[UUID]
    address: Mapped[ctext | None]  # address group; NULL while unknown or exempt
    ready_at: Mapped[utc_now]  # no request before: politeness
    due_at: Mapped[utc | None]  # the earliest due task; NULL when there is none
    claim_at: Mapped[utc | None]  # the later of both; later still when slots were full
    worker_id: Mapped[bigint | None]  # the worker lease that holds it
    token: Mapped[bigint] = column(default="0")  # fencing: grows with each claim
    slots: Mapped[smallint] = column(default="0")  # of its domain and address, while held
    delay: Mapped[real] = column(default="1")  # in force during the visit, for its successor
    claimed_at: Mapped[utc | None]
    slow: Mapped[bool] = column(default="false")  # its host takes long; few of these at a time
    mode_delay: Mapped[real | None]  # of the ingestion that is under way
    mode_until: Mapped[utc | None]
    assisted_until: Mapped[utc | None]  # a reviewer asked for pages in spite of the risk
    recall: Mapped[bigint | None]  # token of a visit that must end: its tasks changed
    preflight: Mapped[bool] = column(default="false")  # the one reason to visit a pending domain
    paced_at: Mapped[utc_now | None]  # when `ready_at` was set: the wait survives a clock step
    # its domain's, see `messor.lane_turn`
    priority: Mapped[smallint] = column(default="5", check="priority BETWEEN 1 AND 10")


class VisitTable(Keyless):
    """Who held which lane, from when to when."""

    __tablename__ = "visits"
    __table_args__ = (index("visits_host", "host_id, claimed_at DESC"), by_month("claimed_at"))

    host_id: Mapped[bigint]
    token: Mapped[bigint]
    worker_id: Mapped[bigint]
    claimed_at: Mapped[utc]
    ended_at: Mapped[utc | None]
    end_reason: Mapped[str | None]
    pages: Mapped[int] = column(default="0")


class TrafficHaltTable(Base):
    """While one of these is not lifted, no worker sends a request to a site."""

    __tablename__ = "traffic_halts"
    __table_args__ = (
        check("(lifted_at IS NULL) = (lifted_by IS NULL)"),
        # At most one is in force, and looking for it costs nothing.
        index("traffic_halts_in_force", "(true)", "lifted_at IS NULL", unique=True),
    )

    id: Mapped[bigint_key]
    halted_at: Mapped[utc_now]
    halted_by: Mapped[str]
    reason: Mapped[str] = column(check="reason <> ''")
    lifted_at: Mapped[utc | None]
    lifted_by: Mapped[str | None]


class TrafficLimitsTable(Base):
    """Crawl hours and a cap of all domains together: one row, or none."""

    __tablename__ = "traffic_limits"

    id: Mapped[bool] = column(key=True, default="true", check="id")
    crawl_hours: Mapped[ctext | None] = column(
        check=r"crawl_hours ~ '^(\d|1\d|2[0-3])-(\d|1\d|2[0-4])$'"
    )
    time_zone: Mapped[str] = column(default="'UTC'")
    megabytes_per_day: Mapped[int | None] = column(check="megabytes_per_day > 0")
    set_by: Mapped[str]
    set_at: Mapped[utc_now]


class TrafficDayTable(Base):
    """Bytes that a worker received on a day, of a domain with a cap or, under the nil UUID, of all."""

    __tablename__ = "traffic_days"
    __table_args__ = stored(fillfactor=50)

    scope: Mapped[UUID] = column(key=True)
    day: Mapped[date] = column(key=True)
    worker_id: Mapped[bigint] = column(key=True)
    bytes: Mapped[bigint]


class TrafficSpentTable(Base):
    """A domain, or all of them, whose bytes of the day are used up."""

    __tablename__ = "traffic_spent"

    scope: Mapped[UUID] = column(key=True)
    until: Mapped[utc]


class ClockWatchTable(Base):
    """The clock as running processes saw it: one row."""

    __tablename__ = "clock_watch"
    __table_args__ = stored(fillfactor=50)

    id: Mapped[bool] = column(key=True, default="true", check="id")
    seen_at: Mapped[utc]  # the latest reading
    ahead_from: Mapped[utc | None]  # the first one after its last step forward
