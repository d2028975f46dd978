"""What an operator is told of without a monitoring system: rules that say what is wrong, in one sentence.

Each is one statement that returns a sentence, or nothing while all is well. Thresholds are those of
`deploy/prometheus/messor.rules.yml`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from messor.settings import Settings
from messor.store.database import Connection

NOW = "(SELECT messor.clock())"
BACKUP_HOURS = 36  # a night's backup may fail once, and is then late


@dataclass(frozen=True, slots=True)
class AlertRule:
    """A rule; `sql` gets `arguments` and returns a sentence or NULL."""

    name: str
    sql: str
    arguments: Sequence[Any] = ()

    async def message(self, connection: Connection) -> str | None:
        found: str | None = await connection.fetchval(self.sql, *self.arguments)
        return found


PARSERS = f"""
SELECT 'Parsers fail on ' || count(DISTINCT domain_id) || ' domains, or lose what they found: '
       || string_agg(DISTINCT data ->> 'parser', ', ') || '. See: messor events --type parser.failing'
  FROM messor.events WHERE type = 'parser.failing' AND occurred_at >= {NOW} - interval '1 day'
HAVING count(*) > 0
"""
RISK = f"""
SELECT risky || ' of ' || hosts || ' hosts that were asked within a day are at high or critical risk. See: messor domains list'
  FROM (SELECT count(*) AS hosts, count(*) FILTER (
                 WHERE messor.risk_level(messor.risk_at(h.risk_score, h.risk_at, {NOW})) IN ('high', 'critical')) AS risky
          FROM messor.hosts h WHERE h.risk_at >= {NOW} - interval '1 day') r
 WHERE risky >= 5 AND risky * 5 >= hosts
"""
BLOCKS = f"""
SELECT 'Blocked: ' || blocked || ' of ' || fetches || ' requests in an hour. See: messor fetches --outcome blocked'
  FROM (SELECT count(*) AS fetches, count(*) FILTER (WHERE outcome = 'blocked') AS blocked
          FROM messor.http_fetches WHERE fetched_at >= {NOW} - interval '1 hour') f
 WHERE blocked >= 20 AND blocked * 10 >= fetches
"""
JOBS = f"""
SELECT count(*) || ' jobs have waited for more than an hour, such as ' || min(job_type)
       || '. Is a worker running? See: messor jobs list'
  FROM messor.jobs WHERE state = 'queued' AND available_at < {NOW} - interval '1 hour' HAVING count(*) > 0
"""
BUDGET = f"""
SELECT string_agg(u.provider || ' has used ' || round(u.cost, 2) || ' of its monthly ' || round(b.budget, 2), '; ')
       || '. Raise the budget, or expect fewer pages.'
  FROM unnest($1::text[], $2::numeric[]) AS b (provider, budget)
  JOIN (SELECT provider, cost FROM messor.provider_usage
         WHERE month = date_trunc('month', {NOW} AT TIME ZONE 'UTC')::date
         UNION ALL
        SELECT 'model', sum(cost) FROM messor.ai_usage
         WHERE scope = 'month' AND month = date_trunc('month', {NOW} AT TIME ZONE 'UTC')::date) u
    ON u.provider = b.provider AND u.cost >= b.budget * 0.9
"""
ALARMS = f"""
SELECT string_agg(DISTINCT message, ' ') FROM messor.alarms
 WHERE seen_at BETWEEN {NOW} - interval '30 seconds' AND {NOW} + interval '30 seconds'
   AND (name = 'disk') = $1
"""
REPLICA = """
SELECT 'A replica is ' || round(extract(epoch FROM max(replay_lag))) || ' s behind.'
  FROM pg_stat_replication HAVING max(replay_lag) > interval '1 minute'
"""
BACKUP = f"""
SELECT CASE WHEN newest IS NULL THEN 'There is no backup yet' ELSE 'The newest backup is of '
            || to_char(newest AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') || ' UTC' END
       || coalesce('; the last attempt failed: ' || error, '') || '. To make one: messor backup create'
  FROM (SELECT max(finished_at) AS newest,
               (SELECT error FROM messor.backups ORDER BY started_at DESC LIMIT 1) AS error,
               (SELECT min(occurred_at) FROM messor.events) AS began
          FROM messor.backups WHERE removed_at IS NULL) b
 WHERE coalesce(newest, began) < {NOW} - make_interval(hours => $1)
"""


def rules(settings: Settings) -> list[AlertRule]:
    """The rules of an installation."""
    found = [
        AlertRule("parsers", PARSERS),
        AlertRule("risk", RISK),
        AlertRule("blocks", BLOCKS),
        AlertRule("jobs", JOBS),
        AlertRule("disk", ALARMS, [True]),
        AlertRule("components", ALARMS, [False]),
        AlertRule("replica", REPLICA),
    ]
    if budgets := budgets_of(settings):
        found.append(AlertRule("budget", BUDGET, [list(budgets), list(budgets.values())]))
    if settings.backup_to:
        found.append(AlertRule("backup", BACKUP, [BACKUP_HOURS]))
    return found


def budgets_of(settings: Settings) -> dict[str, Decimal]:
    """Monthly budgets by the name their cost is booked under."""
    given = {
        "model": settings.ai_monthly_budget if settings.ai_url else None,
        "crawl4ai": settings.crawl4ai_monthly_budget,
        "firecrawl": settings.firecrawl_monthly_budget,
    }
    return {name: budget for name, budget in given.items() if budget is not None}
