"""Figures of the whole installation for Prometheus, read from the database when they are asked for.

Only the process of `messor up` that runs the schedule gives them out. Each figure is one statement
that reads an index, a small table or statistics; none scans pages or fetches.
"""

from __future__ import annotations

from dataclasses import dataclass

import asyncpg
from prometheus_client.core import GaugeMetricFamily, Metric

from messor.schedule.alert_rules import budgets_of
from messor.settings import Settings
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Connection, Database

NOW = "(SELECT messor.clock())"
STANDING = f"seen_at BETWEEN {NOW} - interval '30 seconds' AND {NOW} + interval '30 seconds'"


@dataclass(frozen=True, slots=True)
class Figure:
    """A gauge; its statement returns the labels in order, then the value."""

    name: str
    meaning: str
    sql: str
    labels: tuple[str, ...] = ()


FIGURES = (
    Figure(
        "messor_lanes",
        "Lanes by state: held, due (could be claimed now), paced (due work, waits for its pace) or idle",
        f"""
SELECT s.state, count(l.host_id)::float8 FROM unnest(ARRAY['held', 'due', 'paced', 'idle']) AS s (state)
  LEFT JOIN messor.lanes l ON s.state = CASE
       WHEN l.worker_id IS NOT NULL THEN 'held' WHEN l.claim_at <= {NOW} THEN 'due'
       WHEN l.due_at <= {NOW} THEN 'paced' ELSE 'idle' END GROUP BY 1""",
        ("state",),
    ),
    Figure(
        "messor_lane_lag_seconds",
        "How long the oldest claimable lane has waited for a worker",
        f"""
SELECT coalesce(greatest(extract(epoch FROM {NOW} - min(claim_at)), 0), 0)::float8
  FROM messor.lanes WHERE worker_id IS NULL AND claim_at IS NOT NULL""",
    ),
    Figure(
        "messor_workers",
        "Active worker leases",
        f"SELECT count(*)::float8 FROM messor.worker_leases WHERE ended_at IS NULL AND expires_at > {NOW}",
    ),
    Figure(
        "messor_domains",
        "Domains by status",
        """
SELECT s.status, count(d.id)::float8
  FROM unnest(ARRAY['pending_review', 'approved', 'rejected', 'suspended', 'blacklisted']) AS s (status)
  LEFT JOIN messor.domains d ON d.status = s.status GROUP BY 1""",
        ("status",),
    ),
    Figure(
        "messor_hosts_risk",
        "Hosts by risk level",
        f"""
SELECT b.level, count(h.id)::float8 FROM unnest(ARRAY['low', 'medium', 'high', 'critical']) AS b (level)
  LEFT JOIN messor.hosts h
    ON messor.risk_level(messor.risk_at(h.risk_score, h.risk_at, {NOW})) = b.level GROUP BY 1""",
        ("level",),
    ),
    Figure(
        "messor_jobs",
        "Jobs by state",
        """
SELECT s.state, count(j.id)::float8 FROM unnest(ARRAY['queued', 'running', 'dead']) AS s (state)
  LEFT JOIN messor.jobs j ON j.state = s.state GROUP BY 1""",
        ("state",),
    ),
    Figure(
        "messor_job_age_seconds",
        "How long the oldest due job has waited to start",
        f"""
SELECT coalesce(greatest(extract(epoch FROM {NOW} - min(available_at)), 0), 0)::float8
  FROM messor.jobs WHERE state = 'queued'""",
    ),
    Figure(
        "messor_extraction_waiting",
        "Pages waiting for extraction",
        "SELECT count(*)::float8 FROM messor.extraction_due",
    ),
    Figure(
        "messor_extraction_age_seconds",
        "How long the oldest extractable page has waited",
        f"""
SELECT coalesce(greatest(extract(epoch FROM {NOW} - min(seen_at)), 0), 0)::float8
  FROM messor.extraction_due WHERE due_at <= {NOW}""",
    ),
    Figure(
        "messor_parser_losses",
        "Records lost within a day on pages that still exist, by parser; `any` is 0 if there are none",
        f"""
SELECT coalesce(r.parser, 'any'), count(DISTINCT c.record_id)::float8
  FROM (SELECT {NOW} - interval '1 day' AS since) t
  LEFT JOIN messor.record_changes c ON c.changed_at >= t.since AND c.state = 'removed'
        AND c.snapshot_id IS NOT NULL
  LEFT JOIN messor.records r ON r.id = c.record_id GROUP BY 1""",
        ("parser",),
    ),
    Figure(
        "messor_provider_cost",
        "Cost of page-fetching services, searches and models this month",
        f"""
SELECT 'model', coalesce(sum(cost), 0)::float8 FROM messor.ai_usage
 WHERE scope = 'month' AND month = date_trunc('month', {NOW} AT TIME ZONE 'UTC')::date
 UNION ALL
SELECT provider, cost::float8 FROM messor.provider_usage
 WHERE month = date_trunc('month', {NOW} AT TIME ZONE 'UTC')::date""",
        ("provider",),
    ),
    Figure(
        "messor_watches",
        "Active watches",
        "SELECT count(*)::float8 FROM messor.watches WHERE is_active",
    ),
    Figure(
        "messor_watch_alert_age_seconds",
        "How long the most overdue watch alert has waited",
        f"""
SELECT coalesce(greatest(extract(epoch FROM {NOW} - min(due_at)), 0), 0)::float8
  FROM messor.watch_alerts WHERE state = 'due'""",
    ),
    Figure(
        "messor_exports",
        "Exports by state",
        """
SELECT s.state, count(x.id)::float8 FROM unnest(ARRAY['queued', 'running', 'done', 'failed']) AS s (state)
  LEFT JOIN messor.exports x ON x.state = s.state GROUP BY 1""",
        ("state",),
    ),
    Figure(
        "messor_schedule_late_seconds",
        "Delay of the most overdue scheduled run",
        f"""
SELECT coalesce(greatest(extract(epoch FROM {NOW} - min(next_run_at)), 0), 0)::float8
  FROM messor.schedules WHERE enabled""",
    ),
    Figure(
        "messor_alarms",
        "Active alarms by name; `any` is 0 if there are none",
        f"""
SELECT coalesce(a.name, 'any'), count(a.name)::float8
  FROM (VALUES (1)) t LEFT JOIN messor.alarms a ON a.{STANDING} GROUP BY 1""",
        ("name",),
    ),
    Figure(
        "messor_alerts",
        "Active alerts (O-Alerts) by name; `any` is 0 if there are none",
        """
SELECT coalesce(a.name, 'any'), count(a.name)::float8
  FROM (VALUES (1)) t LEFT JOIN messor.alerts a ON a.ended_at IS NULL GROUP BY 1""",
        ("name",),
    ),
    Figure(
        "messor_backup_age_seconds",
        "Age of the newest backup; nothing while there is none",
        f"""
SELECT extract(epoch FROM {NOW} - max(finished_at))::float8 FROM messor.backups
 WHERE removed_at IS NULL HAVING max(finished_at) IS NOT NULL""",
    ),
    Figure(
        "messor_archive_bytes",
        "Bytes of all sealed archive segments",
        "SELECT coalesce(sum(bytes), 0)::float8 FROM messor.segments",
    ),
    Figure(
        "messor_database_bytes",
        "Size of the database",
        "SELECT pg_database_size(current_database())::float8",
    ),
    Figure(
        "messor_wal_bytes",
        "Bytes of write-ahead log written since the cluster was created; its rate is the write load",
        "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8",
    ),
    Figure(
        "messor_replica_lag_seconds",
        "Lag of the slowest replica; 0 without one",
        "SELECT coalesce(extract(epoch FROM max(replay_lag)), 0)::float8 FROM pg_stat_replication",
    ),
)
BUDGET = "messor_provider_budget"
BUDGET_MEANING = "Monthly budget of a service, if one is set"


async def measure(database: Database, settings: Settings) -> list[Metric]:
    """All figures; one that the server refuses or is too slow to tell is left out."""
    families: list[Metric] = []
    for figure in FIGURES:
        try:
            async with database.connection() as connection:
                families.append(await _family(connection, figure))
        except (asyncpg.PostgresError, *LOST_CONNECTION, *TRY_AGAIN):
            continue
    families.append(_budgets(settings))
    return families


async def _family(connection: Connection, figure: Figure) -> Metric:
    family = GaugeMetricFamily(figure.name, figure.meaning, labels=figure.labels)
    for row in await connection.fetch(figure.sql):
        *labels, value = row.values()
        family.add_metric([str(label) for label in labels], value)
    return family


def _budgets(settings: Settings) -> Metric:
    family = GaugeMetricFamily(BUDGET, BUDGET_MEANING, labels=["provider"])
    for provider, budget in budgets_of(settings).items():
        family.add_metric([provider], float(budget))
    return family
