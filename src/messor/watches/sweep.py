"""Conditions that become true by time or state: a deadline near, a page blocked or stale.

Each watch with such a condition is swept once an hour by one statement. A thing is told once per
episode: a deadline's date, or a page's last good content.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from messor.feed.queries import Change
from messor.rights.release import Purpose, release
from messor.store.database import Connection, Database
from messor.store.listing import Source, Values
from messor.watches.evaluate import Telling, add_alerts
from messor.watches.nouns import NOUNS, condition_of
from messor.watches.watches import COLUMNS, Watch

EVERY = timedelta(hours=1)
MANY = 500  # alerts of one sweep

TAKE = f"""
SELECT {COLUMNS} FROM messor.watches w
 WHERE w.is_active AND w.condition ->> 'when' IN ('deadline', 'blocked', 'stale')
   AND (w.swept_at IS NULL OR w.swept_at < (SELECT messor.clock()) - $1::interval)
 ORDER BY w.swept_at NULLS FIRST LIMIT 1 FOR UPDATE SKIP LOCKED
"""
SWEPT = "UPDATE messor.watches SET swept_at = messor.clock() WHERE id = $1"
# Dates are compared as text: a site may state 30 February, and a cast of it would fail.
_RECORDS = """
SELECT r.data ->> 'deadline' AS episode, 'record:' || r.id AS subject, p.url, r.page_id, r.id AS record_id,
       d.domain, r.data ->> 'deadline' AS what, coalesce(r.data ->> 'title', r.data ->> 'name', p.url) AS name
  FROM messor.records r JOIN messor.pages p ON p.id = r.page_id JOIN messor.domains d ON d.id = r.domain_id
 WHERE r.state = 'current' AND left(r.data ->> 'deadline', 10)
       BETWEEN (({now})::date)::text AND (({now})::date + {days}::int)::text
   AND r.data ->> 'deadline' ~ '^\\d{{4}}-\\d{{2}}-\\d{{2}}' AND {fits}
 ORDER BY r.id LIMIT {limit}
"""
_PAGES = """
SELECT coalesce(k.snapshot_id, 0)::text AS episode, 'page:' || p.id AS subject, p.url, p.id AS page_id,
       NULL::bigint AS record_id, d.domain, to_char(s.crawled_at, 'YYYY-MM-DD') AS what, p.url AS name
  FROM messor.pages p JOIN messor.crawl_tasks k ON k.page_id = p.id
  JOIN messor.hosts h ON h.id = p.host_id JOIN messor.domains d ON d.id = h.domain_id
  LEFT JOIN messor.page_snapshots s ON s.id = k.snapshot_id
 WHERE {holds} AND {fits} ORDER BY p.id LIMIT {limit}
"""
_HOLDS = {
    "blocked": "k.outcome = 'blocked'",
    "stale": """k.kind = 'page' AND d.status = 'approved'
                AND (k.outcome IS NULL OR k.outcome NOT IN ('ok', 'unchanged', 'friction'))
                AND coalesce(s.crawled_at, p.found_at) < ({now}) - make_interval(days => {days}::int)""",
}
_NOW = "SELECT messor.clock()"


async def sweep(database: Database) -> bool:
    """Sweep the next watch that is due for it; whether there was one."""
    async with database.transaction() as connection:
        row = await connection.fetchrow(TAKE, EVERY)
        if row is None:
            return False
        watch = Watch.of(row)
        tellings = await would_sweep(connection, watch)
        leaving = await release(connection, Purpose.ALERT, tellings, lambda one: one.change.page_id)
        await add_alerts(connection, leaving)
        await connection.execute(SWEPT, watch.id)
    return True


async def would_sweep(source: Source | Connection, watch: Watch) -> list[Telling]:
    """What holds now."""
    values = Values()
    days = values.add(watch.condition.days or 0)
    fits = _fits(watch, values)
    if watch.condition.when == "deadline":
        sql = _RECORDS.format(now=_NOW, days=days, fits=fits, limit=MANY)
    else:
        holds = _HOLDS[watch.condition.when].format(now=_NOW, days=days)
        # Each value is used, so that the server knows its type.
        sql = _PAGES.format(holds=f"{holds} AND {days}::int >= 0", fits=fits, limit=MANY)
    now: datetime = await source.fetchval(_NOW)
    return [_telling(watch, row, now) for row in await source.fetch(sql, *values)]


def _fits(watch: Watch, values: Values) -> str:
    watched = NOUNS[watch.noun]
    made = watched.filters.model_validate(watch.filters)
    found = [
        condition_of(watched, name, values.add(getattr(made, name)))
        if _has_parameter(watched, name)
        else condition_of(watched, name, f"'{watch.filters[name]}'")
        for name in watch.filters
    ]
    return " AND ".join(f"({one})" for one in found) or "true"


def _has_parameter(watched: Any, name: str) -> bool:
    extra = watched.filters.model_fields[name].json_schema_extra
    return name in (watched.own or {}) or isinstance(extra["sql"], str)


_SAYS = {
    "deadline": "Deadline on {what}: {name}",
    "blocked": "Blocked: {name}",
    "stale": "No good content since {what}: {name}",
}


def _telling(watch: Watch, row: Mapping[str, Any], now: datetime) -> Telling:
    when = watch.condition.when
    message = _SAYS[when].format(what=row["what"] or "it was found", name=row["name"])
    change = Change(
        id=f"{when}:{row['subject']}:{row['episode']}",
        kind=row["subject"].partition(":")[0],
        state="changed",
        subject=row["subject"],
        topic=when,
        domain=row["domain"],
        url=row["url"],
        page_id=row["page_id"],
        record_id=row["record_id"],
        product_id=None,
        occurred_at=now,
        seen_at=None,
        before=None,
        after=None,
        evidence=None,
    )
    return Telling(watch, change, message)
