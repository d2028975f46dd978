"""Watching: what happened on the path that a domain's life should know of.

It reads what visits left behind, now and then, and costs the path nothing: a domain that does not
answer rests, one that answers again is no longer failing, and one that is not what was approved
comes before a reviewer.
"""

from __future__ import annotations

from messor.governance import rest
from messor.registry import domains, notes, processing
from messor.store.database import Connection
from messor.web.suffixes import registrable_domain
from messor.web.urls import host_of, parse

ACTOR = processing.SYSTEM
RESTING = ("processing_failed", "no_funds_this_year")

# The start page leads out of the domain, by its newest fetch.
CHANGED_HANDS = """
SELECT d.domain, d.base_url, f.final_url FROM messor.domains d
  JOIN messor.hosts h ON h.domain_id = d.id
  JOIN messor.pages p ON p.host_id = h.id AND p.depth = 0
   AND p.url IN (d.base_url, regexp_replace(d.base_url, '^https:', 'http:'))
  JOIN messor.crawl_tasks t ON t.page_id = p.id AND t.kind = 'page' AND t.outcome = 'redirected_out'
 CROSS JOIN LATERAL (SELECT n.final_url FROM messor.http_fetches n WHERE n.page_id = p.id
                      ORDER BY n.fetched_at DESC LIMIT 1) f
 WHERE d.status = 'approved' AND t.last_fetched_at > coalesce(d.reviewed_at, d.created_at)
 ORDER BY d.id LIMIT $1
"""

# The main host did not answer its last visits, and nothing good came since the last failure.
FAILING = """
SELECT d.domain, m.cooldown_reason FROM messor.domains d JOIN messor.hosts m ON m.id = d.main_host_id
 WHERE d.status = 'approved' AND d.active AND m.cooldown_until > messor.clock()
   AND m.cooldown_reason ~ '(had|gave) no answer(:|$)'
   AND d.processing NOT IN ('processing_failed', 'no_funds_this_year')
 ORDER BY d.id LIMIT $1
"""
RECOVERED = """
SELECT d.domain FROM messor.domains d JOIN messor.hosts m ON m.id = d.main_host_id
 WHERE d.failure_count > 0 AND d.processing <> 'processing_failed'
   AND EXISTS (SELECT FROM messor.crawl_tasks t WHERE t.host_id = m.id
                AND t.outcome IN ('ok', 'unchanged') AND t.last_fetched_at > d.last_processed_at)
 ORDER BY d.id LIMIT $1
"""

# Where it was welcome when it was approved, it is refused now.
TURNED_AWAY = """
SELECT d.domain, messor.risk_at(m.risk_score, m.risk_at, messor.clock()) AS risk
  FROM messor.domains d JOIN messor.hosts m ON m.id = d.main_host_id
 WHERE d.status = 'approved' AND d.review_reason IS NULL
   AND messor.risk_at(m.risk_score, m.risk_at, messor.clock()) > 80
   AND m.risk_at > greatest(d.reviewed_at, d.created_at)
   AND NOT EXISTS (SELECT FROM messor.events e WHERE e.domain_id = d.id AND e.type = 'domain.kept'
                    AND e.occurred_at > messor.clock() - interval '30 days')
 ORDER BY d.id LIMIT $1
"""


async def changed_hands(connection: Connection, limit: int = 200) -> int:
    """Domains whose start page leads to another domain wait for review again."""
    changed = 0
    for row in await connection.fetch(CHANGED_HANDS, limit):
        target = parse(row["final_url"] or "", row["base_url"])
        owner = registrable_domain(host_of(target.authority)) if target else None
        domain = await domains.lock(connection, row["domain"])
        if owner in (None, domain.domain) or domain.status != "approved":
            continue
        reason = f"it changed hands: its start page leads to {owner}"
        await domains.move(connection, domain, "pending_review", actor=ACTOR, reason=reason)
        changed += 1
    return changed


async def failing(connection: Connection, limit: int = 200) -> int:
    """Domains that do not answer rest."""
    rows = await connection.fetch(FAILING, limit)
    for row in rows:
        domain = await domains.lock(connection, row["domain"])
        if domain.processing in RESTING or domain.status != "approved":
            continue
        if domain.processing != "processing":
            domain = await processing.begin(connection, domain)
        await rest.fail(connection, domain, row["cooldown_reason"])
    return len(rows)


async def recovered(connection: Connection, limit: int = 200) -> int:
    """Domains of which something good came are no longer failing in a row."""
    rows = await connection.fetch(RECOVERED, limit)
    for row in rows:
        await processing.recover(connection, await domains.lock(connection, row["domain"]))
    return len(rows)


async def turned_away(connection: Connection, limit: int = 200) -> int:
    """Domains that refuse us now are looked at again, while they are left alone anyway."""
    rows = await connection.fetch(TURNED_AWAY, limit)
    for row in rows:
        domain = await domains.lock(connection, row["domain"])
        if domain.status == "approved":
            reason = f"its behaviour changed: it refuses us (risk {row['risk']:.0f})"
            await notes.look_again(connection, domain, reason, actor=ACTOR)
    return len(rows)
