"""Two shops, a search and its candidates: enough that every question has an answer known beforehand."""

from __future__ import annotations

from datetime import timedelta

from messor.core.ids import new_id
from messor.store.database import Database
from tests.harvested import Harvest, open_harvest, product_html
from tests.insight.making import apply_vertical, make_keyword, make_serp

CANDIDATE = """
INSERT INTO messor.candidates (id, session_id, vertical_id, domain, url, url_hash, search_engine,
     search_query, position, confidence_score, status, validation_notes, created_at, reviewed_at, review_reason)
VALUES ($1, $2, $3, $4, $4, sha256($4::text::bytea), 'searxng', 'grants', 1, $5::float8, $6::text, '{}',
        messor.clock() - interval '5 days', CASE WHEN $6::text IN ('APPROVED', 'REJECTED') THEN messor.clock() - make_interval(days => $7::int) END, 'x')
"""
MODEL_CALL = """
INSERT INTO messor.ai_calls (input_hash, purpose, model, prompt_version, page_id, domain, job, month, ending, tokens, cost)
SELECT sha256(id::text::bytea), 'extract:offer', 'small', '1', id, 'shop.example', 'j', date '2026-11-01',
       'answered', 100, 0.02 FROM messor.pages ORDER BY id LIMIT 2
"""
FETCHES = """
INSERT INTO messor.http_fetches (fetched_at, page_id, host_id, visit_token, outcome, status_code, size,
  duration_ms, waited_ms, delay_ms, fetch_provider, provider_cost, rule, policy_version)
SELECT messor.clock() - make_interval(hours => g.n * 10), p.id, p.host_id, 1,
       CASE WHEN g.n % 5 = 4 THEN 'blocked' ELSE 'ok' END, CASE WHEN g.n % 5 = 4 THEN 429 ELSE 200 END,
       1000, 100, 1000 + 100 * g.n, 1050, CASE WHEN p.id % 2 = 0 THEN 'http' ELSE 'firecrawl' END,
       CASE WHEN p.id % 2 = 0 THEN NULL ELSE 0.01 END, 'approved', 1
  FROM messor.pages p CROSS JOIN generate_series(1, 6) AS g (n)
"""


async def stage_shops(database: Database) -> Harvest:
    """Prices that move, in two shops; fetches by two providers, some of them early or blocked."""
    first = await open_harvest(database, "shop.example")
    second = await open_harvest(database, "store.example")
    for days, price in ((40, "59.90"), (25, "54.90"), (12, "64.90"), (2, "49.90")):
        await first.see("/p/kettle", product_html(price=price), timedelta(days=days))
    await second.see("/kettles/one", product_html(price="39.90"), timedelta(days=30))
    await second.see("/kettles/two", product_html("Pot", "10.00", sku="P"), timedelta(days=20))
    await second.see("/kettles/two", None, timedelta(days=6))
    await first.see(
        "/p/cup", product_html("Cup", "9.90", sku="C", category="Cups"), timedelta(days=9)
    )
    await database.fetch(FETCHES)
    return first


async def stage_search(database: Database) -> None:
    """Two keywords, one with a failed page; four candidates at four steps."""
    applied = await apply_vertical(database, "funding")
    now = await database.fetchval("SELECT messor.clock()")
    for number, text in enumerate(("grants", "stipends")):
        keyword = await make_keyword(database, applied, text, "A")
        at = now - timedelta(days=number + 1)
        await make_serp(database, keyword, at, [(1, "organic", "fund.test"), (2, "ad", "ad.test")])
        await make_serp(database, keyword, at - timedelta(hours=1), [], outcome="failed")
    await database.fetch("UPDATE messor.serp_snapshots SET result_count = 2 WHERE outcome = 'ok'")
    session = new_id()
    await database.fetch(
        """INSERT INTO messor.discovery_sessions (id, vertical_id, vertical_version, started_by)
           VALUES ($1, $2, 1, 'test')""",
        session,
        applied.id,
    )
    steps = (
        ("APPROVED", 0.9, 1),
        ("REJECTED", 0.8, 3),
        ("PENDING_REVIEW", 0.7, 0),
        ("PENDING_CRAWL", 0.7, 0),
    )
    for number, (status, score, days) in enumerate((*steps, ("SKIPPED_LOW_CONFIDENCE", 0.2, 0))):
        name = f"fund{number}.test"
        await database.fetch(CANDIDATE, new_id(), session, applied.id, name, score, status, days)


async def stage_everything(database: Database) -> Harvest:
    shop = await stage_shops(database)
    await stage_search(database)
    await database.fetch(MODEL_CALL)
    return shop
