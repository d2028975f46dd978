"""Follow-up: updates domains from what visits found.

It reads stored outcomes periodically and costs the data path nothing: a domain that does not
respond rests, one that responds again is no longer failing, and one that changed returns to review.
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

# The main host is silenced because it did not respond: its last visit ended for want of a
# robots.txt or of any answer, and its newest request had none.
FAILING = """
SELECT d.domain, m.cooldown_reason FROM messor.domains d JOIN messor.hosts m ON m.id = d.main_host_id
 CROSS JOIN LATERAL (SELECT v.end_reason FROM messor.visits v WHERE v.host_id = m.id
                      ORDER BY v.claimed_at DESC LIMIT 1) v
 CROSS JOIN LATERAL (SELECT f.status_code FROM messor.http_fetches f WHERE f.host_id = m.id
                      ORDER BY f.fetched_at DESC LIMIT 1) f
 WHERE d.status = 'approved' AND d.active AND m.cooldown_until > messor.clock()
   AND v.end_reason IN ('unreachable', 'robots') AND f.status_code IS NULL
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

# It was accessible when approved and refuses requests now.
TURNED_AWAY = """
SELECT d.domain, messor.risk_at(m.risk_score, m.risk_at, messor.clock()) AS risk
  FROM messor.domains d JOIN messor.hosts m ON m.id = d.main_host_id
 WHERE d.status = 'approved' AND d.review_reason IS NULL
   AND messor.risk_level(messor.risk_at(m.risk_score, m.risk_at, messor.clock())) = 'critical'
   AND m.risk_at > greatest(d.reviewed_at, d.created_at)
   AND NOT EXISTS (SELECT FROM messor.events e WHERE e.domain_id = d.id AND e.type = 'domain.kept'
                    AND e.occurred_at > messor.clock() - interval '30 days')
 ORDER BY d.id LIMIT $1
"""


async def changed_hands(connection: Connection, limit: int = 200) -> int:
    """Return domains to review whose start page redirects to another domain."""
    changed = 0
    for row in await connection.fetch(CHANGED_HANDS, limit):
        target = parse(row["final_url"] or "", row["base_url"])
        owner = registrable_domain(host_of(target.authority)) if target else None
        domain = await domains.lock(connection, row["domain"])
        if owner in (None, domain.domain) or domain.status != "approved":
            continue
        reason = f"it changed hands: its start page redirects to {owner}"
        await domains.move(connection, domain, "pending_review", actor=ACTOR, reason=reason)
        changed += 1
    return changed


async def failing(connection: Connection, limit: int = 200) -> int:
    """Rest domains that do not respond."""
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
    """Reset the failure count of domains that produced a good page."""
    rows = await connection.fetch(RECOVERED, limit)
    for row in rows:
        await processing.recover(connection, await domains.lock(connection, row["domain"]))
    return len(rows)


async def turned_away(connection: Connection, limit: int = 200) -> int:
    """Flag domains for review that now refuse requests."""
    rows = await connection.fetch(TURNED_AWAY, limit)
    for row in rows:
        domain = await domains.lock(connection, row["domain"])
        if domain.status == "approved":
            reason = f"its behaviour changed: it refuses requests (risk {row['risk']:.0f})"
            await notes.look_again(connection, domain, reason, actor=ACTOR)
    return len(rows)
