"""The contract's queries of stored evidence, one statement each.

Each reads the newest finished runs ($1: how far back) and returns one row: how many items it
`examined`, how many were `broken`, `examples` as text, the `newest` run examined, and a `detail`
that some checks count besides. A run whose caller went away has no evidence.
"""

from __future__ import annotations

from messor.ops.politeness import ACROSS_MS, WITHIN_MS
from messor.politeness.risk import HIGH, MEDIUM

MAX_RUNS = 200
MAX_FETCHES = 5_000
# A request may take 30 s, and its result waits a few seconds for a flush.
ON_ITS_WAY = "interval '1 minute'"
# A source of links is read again after a day, and planning takes a moment.
SOURCE_LASTS = "interval '25 hours'"


def _number(run: str, marker: str) -> str:
    """A marker as a number; NULL if it is none, which is for INGEST_001 to report."""
    return (
        f"CASE WHEN jsonb_typeof({run}nm -> '{marker}') = 'number' "
        f"THEN ({run}nm ->> '{marker}')::numeric END"
    )


def _list(run: str, marker: str) -> str:
    """A marker as a list; empty if it is none."""
    return (
        f"CASE WHEN jsonb_typeof({run}nm -> '{marker}') = 'array' "
        f"THEN {run}nm -> '{marker}' ELSE '[]' END"
    )


RUNS = f"""
WITH runs AS (
  SELECT r.id, r.trace_id, r.mode, r.outcome, r.evidence, r.evidence -> 'nm_ingest' AS nm,
         r.domain_id, r.started_at, r.completed_at
    FROM messor.ingestion_runs r
   WHERE r.completed_at IS NOT NULL
     AND r.started_at >= (SELECT messor.clock()) - $1::interval
     AND NOT (r.outcome = 'error' AND r.evidence IS NULL)
   ORDER BY r.id DESC LIMIT {MAX_RUNS}
), fetches AS (
  SELECT r.id AS run_id, r.trace_id, r.mode, i.origin, i.planned_at, p.url, f.fetched_at, f.page_id, f.host_id,
         f.visit_token, f.outcome, f.status_code, f.waited_ms, f.delay_ms, f.duration_ms,
         f.fetch_provider, f.robots_id
    FROM runs r JOIN messor.ingestion_pages i ON i.run_id = r.id
    JOIN messor.pages p ON p.id = i.page_id
    JOIN messor.http_fetches f ON f.page_id = i.page_id
     AND f.fetched_at BETWEEN r.started_at AND r.completed_at
     -- The same for all runs, so that older parts of the log are not opened at all.
     AND f.fetched_at >= (SELECT messor.clock()) - $1::interval
)"""

ANSWER = """
SELECT count(*) AS examined, count(fault) AS broken,
       coalesce((array_agg(left(trace_id, 8) || ': ' || fault ORDER BY run_id DESC)
                 FILTER (WHERE fault IS NOT NULL))[1:5], '{}') AS examples,
       (array_agg(trace_id ORDER BY run_id DESC))[1] AS newest,
       count(*) FILTER (WHERE is_special) AS detail
  FROM judged
"""

# What a run reports as fetched must be in the log, as far as its pages still exist. A request in
# flight when the run began is dated before it, and its response came during the run.
EVIDENCE = f"""{RUNS}, answered AS (
  SELECT r.id AS run_id, count(DISTINCT f.page_id) AS pages
    FROM runs r JOIN messor.ingestion_pages i ON i.run_id = r.id
    JOIN messor.http_fetches f ON f.page_id = i.page_id
     AND f.fetched_at BETWEEN r.started_at - {ON_ITS_WAY} AND r.completed_at
     AND f.fetched_at >= (SELECT messor.clock()) - $1::interval - {ON_ITS_WAY}
   GROUP BY 1
), judged AS (
  SELECT r.id AS run_id, r.trace_id, r.outcome = 'blocked' AS is_special, CASE
    WHEN r.evidence ->> 'traceId' IS DISTINCT FROM r.trace_id THEN 'its traceId is not its own'
    WHEN r.evidence ->> 'nm_policyVersion' IS DISTINCT FROM $2
      THEN 'its nm_policyVersion is not ' || $2
    WHEN lacking.names IS NOT NULL THEN 'nm_ingest lacks ' || lacking.names
    WHEN r.nm ->> 'mode' <> r.mode THEN 'it says another mode'
    WHEN r.nm ->> 'outcome' IS DISTINCT FROM r.outcome THEN 'it says another outcome'
    WHEN (r.nm ->> 'cacheHits')::numeric + (r.nm ->> 'cacheMisses')::numeric
         <> (r.nm ->> 'pagesPlanned')::numeric THEN 'hits and misses are not the pages planned'
    WHEN (r.nm ->> 'pagesUsed')::numeric > (r.nm ->> 'pagesPlanned')::numeric
      THEN 'it used more pages than it planned'
    WHEN (r.nm ->> 'pagesFetched')::numeric >
         coalesce((SELECT a.pages FROM answered a WHERE a.run_id = r.id), 0)
         + (SELECT count(*) FROM messor.ingestion_pages i WHERE i.run_id = r.id
             AND NOT EXISTS (SELECT FROM messor.pages p WHERE p.id = i.page_id))
      THEN 'it says it fetched pages that the log does not have'
    END AS fault
    FROM runs r CROSS JOIN LATERAL (
      SELECT string_agg(k.name, ', ') AS names
        FROM (VALUES ('mode', 'string'), ('discoverySources', 'array'), ('pagesPlanned', 'number'),
                     ('pagesFetched', 'number'), ('pagesUsed', 'number'), ('cacheHits', 'number'),
                     ('cacheMisses', 'number'), ('outcome', 'string'), ('frictionSignals', 'array'),
                     ('domainRiskScore', 'number'), ('durationMs', 'number')) AS k (name, type)
       WHERE jsonb_typeof(r.nm -> k.name) IS DISTINCT FROM k.type) lacking
){ANSWER}"""

# Pages that a run chose itself are fetched after robots.txt and after sitemap or homepage; what was
# fetched before the run chose it was fetched for another reason. A source counts for a day, whoever
# read it and in whichever visit; a saved page counts as read. A site whose robots.txt denies the
# homepage and the sitemaps has no source to read.
DISCOVERY = f"""{RUNS}, chosen AS (
  SELECT r.id AS run_id, r.trace_id, r.nm, r.domain_id, r.completed_at,
         min(f.fetched_at) AS first_at,
         count(*) FILTER (WHERE b.id IS NULL
                          OR b.fetched_at > f.fetched_at + interval '1 second') AS unruled
    FROM runs r JOIN fetches f ON f.run_id = r.id
    LEFT JOIN messor.robots_files b ON b.id = f.robots_id
   WHERE r.mode <> 'user_assisted' AND f.origin = 'sampled'
     AND f.fetched_at >= coalesce(f.planned_at, r.started_at)
   GROUP BY 1, 2, 3, 4, 5
), source AS (
  SELECT c.run_id, c.first_at, c.completed_at, 'sitemap' AS name, s.page_id
    FROM chosen c CROSS JOIN LATERAL (
      SELECT s.page_id FROM messor.hosts h JOIN messor.sitemaps s ON s.host_id = h.id
       WHERE h.domain_id = c.domain_id AND s.read_at >= c.first_at - {SOURCE_LASTS}
       ORDER BY s.page_id LIMIT 50) s
  UNION ALL
  SELECT c.run_id, c.first_at, c.completed_at, 'homepage', i.page_id
    FROM chosen c JOIN messor.ingestion_pages i ON i.run_id = c.run_id
   WHERE i.origin IN ('homepage', 'redirect')
), led AS (
  SELECT s.run_id, s.name, d.fetched_at AS read_at FROM source s
    JOIN messor.http_fetches d ON d.page_id = s.page_id
     AND d.fetched_at BETWEEN s.first_at - {SOURCE_LASTS} AND s.completed_at
     AND d.fetched_at >= (SELECT messor.clock()) - $1::interval - {SOURCE_LASTS}
  UNION ALL
  SELECT s.run_id, s.name, d.crawled_at FROM source s
    JOIN messor.page_snapshots d ON d.page_id = s.page_id AND d.provider = 'import'
), told AS (
  SELECT c.*, {_list("c.", "discoverySources")} AS named,
         (SELECT min(l.read_at) FROM led l WHERE l.run_id = c.run_id) AS source_at,
         EXISTS (SELECT FROM source s JOIN messor.crawl_tasks t ON t.page_id = s.page_id
                  WHERE s.run_id = c.run_id AND s.name = 'homepage' AND t.refusal IS NOT NULL)
           AS is_denied
    FROM chosen c
), judged AS (
  SELECT t.run_id, t.trace_id, t.named ? 'sitemap' AS is_special, CASE
    WHEN t.unruled > 0 THEN 'it fetched a page before robots.txt'
    WHEN t.source_at IS NULL AND NOT t.is_denied
      THEN 'it chose pages, and read neither sitemap nor homepage'
    WHEN t.source_at > t.first_at THEN 'it fetched a page before sitemap and homepage'
    WHEN jsonb_array_length(t.named) = 0 AND NOT t.is_denied
      THEN 'it chose pages and names no source'
    WHEN misnamed.name IS NOT NULL THEN 'it names a ' || misnamed.name || ' that nobody read'
    END AS fault
    FROM told t LEFT JOIN LATERAL (
      SELECT n.name FROM jsonb_array_elements_text(t.named) AS n (name)
       WHERE n.name IN ('sitemap', 'homepage') AND NOT EXISTS (
             SELECT FROM led l WHERE l.run_id = t.run_id AND l.name = n.name) LIMIT 1) misnamed ON true
){ANSWER}"""

ROBOTS = f"""{RUNS}
SELECT trace_id, url, robots_id FROM fetches ORDER BY run_id DESC, fetched_at LIMIT {MAX_FETCHES}
"""

# A pause within a visit is measured in whole milliseconds by the visit itself. The first request of
# a visit is compared with the lane's previous one by the log's times; a delay that was raised in
# between counts from the next request on, one that robots.txt demands at once. Friction counts once
# it is a quarter of a second old, with a tolerance of half a point, because a visit reads the risk
# when it begins.
THROTTLING = f"""{RUNS}, sent AS (
  SELECT f.*, coalesce(risk.risk, 0) AS risk, before.at IS NOT NULL AS has_before,
         CASE WHEN f.waited_ms > 0 THEN f.waited_ms
              ELSE extract(epoch FROM f.fetched_at - before.at) * 1000 END AS gap_ms,
         CASE WHEN f.waited_ms > 0 THEN f.delay_ms - {WITHIN_MS}
              ELSE greatest(least(f.delay_ms, before.delay_ms), least(f.delay_ms, b.crawl_delay * 1000))
                   - {ACROSS_MS} END AS due_ms
    FROM fetches f LEFT JOIN LATERAL (
      SELECT messor.risk_at(l.score, l.occurred_at, f.fetched_at) AS risk
        FROM messor.friction_log l
       WHERE l.host_id = f.host_id AND l.occurred_at < f.fetched_at - interval '250 ms'
       ORDER BY l.occurred_at DESC, l.score DESC LIMIT 1) risk ON true
    LEFT JOIN LATERAL (
      SELECT p.fetched_at AS at, coalesce(p.delay_ms, 0) AS delay_ms FROM messor.http_fetches p
       WHERE p.host_id = f.host_id AND p.fetched_at < f.fetched_at
         AND p.fetched_at >= f.fetched_at - interval '10 minutes'
         AND (p.status_code IS NOT NULL OR p.waited_ms > 0)
       ORDER BY p.fetched_at DESC LIMIT 1) before ON true
    LEFT JOIN messor.robots_files b ON b.id = f.robots_id
   WHERE f.status_code IS NOT NULL AND f.delay_ms IS NOT NULL AND f.fetch_provider = 'http'
), judged AS (
  SELECT run_id, trace_id, risk > {MEDIUM + 0.5} AS is_special, CASE
    WHEN gap_ms < due_ms
      THEN url || ' came ' || round(gap_ms) || ' ms after the request before it, '
           || delay_ms || ' were due'
    WHEN delay_ms < messor.risk_delay((risk - 0.5)::real) * 1000 - {WITHIN_MS}
      THEN url || ' had a pause of ' || delay_ms || ' ms at risk ' || round(risk::numeric)
    END AS fault
    FROM sent WHERE has_before OR waited_ms > 0 OR risk > {MEDIUM + 0.5}
){ANSWER}"""

# Refusals must be logged as friction; after three signals a visit requests no other page.
FRICTION = f"""{RUNS}, judged AS (
  SELECT f.run_id, f.trace_id, before.signals >= 1 AS is_special, CASE
    WHEN f.status_code IN (403, 429, 503) AND f.outcome = 'blocked' AND NOT EXISTS (
           SELECT FROM messor.friction_log l
            WHERE l.host_id = f.host_id AND l.page_id = f.page_id
              AND l.occurred_at BETWEEN f.fetched_at - interval '5 seconds'
                  AND f.fetched_at + make_interval(secs => 30 + f.duration_ms / 1000.0))
      THEN f.url || ' answered ' || f.status_code || ' and no friction was logged'
    WHEN before.signals >= $2 AND f.mode <> 'user_assisted'
      THEN f.url || ' was asked for after ' || before.signals || ' signals in one visit'
    END AS fault
    FROM fetches f JOIN messor.visits v ON v.host_id = f.host_id AND v.token = f.visit_token
   CROSS JOIN LATERAL (
      SELECT count(*) AS signals FROM messor.friction_log l
       WHERE l.host_id = f.host_id AND l.occurred_at >= v.claimed_at
         AND l.occurred_at < f.fetched_at - interval '50 ms') before
   WHERE f.fetch_provider = 'http' AND (
     before.signals > 0 OR (f.status_code IN (403, 429, 503) AND f.outcome = 'blocked'))
){ANSWER}"""

# The cache counts as of when the page was planned: others may have fetched it since the run began.
# The tolerance at the edge is five minutes, since planning takes a moment. What was fetched more
# than two days before all runs cannot be cached, and that part of the log is not read.
CACHING = f"""{RUNS}, earliest AS MATERIALIZED (
  SELECT messor.clock() - $1::interval - interval '2 days' AS at
), planned AS (
  SELECT r.id AS run_id, r.trace_id, r.nm, i.cached, p.url, r.started_at,
         coalesce(i.planned_at, r.completed_at) AS planned_at,
         EXISTS (SELECT FROM fetches f WHERE f.run_id = r.id AND f.page_id = i.page_id) AS asked,
         EXISTS (SELECT FROM messor.http_fetches f
                  WHERE f.page_id = i.page_id AND f.outcome IN ('ok', 'unchanged', 'redirected')
                    AND f.fetched_at >= (SELECT at FROM earliest)
                    AND f.fetched_at BETWEEN
                        coalesce(i.planned_at, r.started_at) - interval '24 hours 5 minutes'
                        AND coalesce(i.planned_at, r.completed_at))
           OR EXISTS (SELECT FROM messor.page_snapshots s
                  WHERE s.page_id = i.page_id AND s.verdict IS NULL AND s.crawled_at BETWEEN
                        coalesce(i.planned_at, r.started_at) - interval '24 hours 5 minutes'
                        AND coalesce(i.planned_at, r.completed_at)) AS at_hand,
         before.fetched_at AS had_at, before.outcome IN ('ok', 'unchanged') AS was_good
    FROM runs r JOIN messor.ingestion_pages i ON i.run_id = r.id
    JOIN messor.pages p ON p.id = i.page_id
    LEFT JOIN LATERAL (
      SELECT f.fetched_at, f.outcome FROM messor.http_fetches f
       WHERE f.page_id = i.page_id AND f.fetched_at < r.started_at
         AND f.fetched_at >= (SELECT at FROM earliest)
       ORDER BY f.fetched_at DESC LIMIT 1) before ON true
), judged AS (
  SELECT run_id, trace_id, cached AS is_special, CASE
    WHEN cached AND NOT at_hand
      THEN url || ' was taken from the cache, but was not fetched within a day before'
    WHEN NOT cached AND asked AND was_good AND had_at > started_at - interval '23 hours 55 minutes'
      THEN url || ' was fetched again within a day'
    END AS fault
    FROM planned WHERE cached OR (asked AND had_at IS NOT NULL)
  UNION ALL
  SELECT run_id, max(trace_id), false, 'it counts fewer cache hits than its plan has'
    FROM planned GROUP BY run_id, nm
  HAVING count(*) FILTER (WHERE cached) > coalesce({_number("", "cacheHits")}, 0)
){ANSWER}"""

PROTECTION = f"""{RUNS}, met AS (
  SELECT r.*, {_list("r.", "frictionSignals")} AS signals,
         EXISTS (SELECT FROM fetches f WHERE f.run_id = r.id AND f.outcome = 'blocked')
           AS was_blocked
    FROM runs r
), judged AS (
  SELECT r.id AS run_id, r.trace_id, r.outcome = 'blocked' AS is_special, CASE
    WHEN r.was_blocked AND r.outcome = 'success' THEN 'pages were blocked and it says success'
    WHEN r.was_blocked AND jsonb_array_length(r.signals) = 0
      THEN 'pages were blocked and it names no signal'
    WHEN r.outcome = 'blocked' AND {_number("r.", "pagesUsed")} > 0
      THEN 'it is blocked and used pages'
    WHEN r.outcome = 'blocked' AND NOT EXISTS (
           SELECT FROM messor.events e
            WHERE e.domain_id = r.domain_id AND e.occurred_at >= r.started_at
              AND e.type = 'ingestion.blocked'
              AND e.data ->> 'traceId' = r.trace_id) THEN 'it is blocked and nobody was told'
    WHEN EXISTS (SELECT FROM messor.tiles t JOIN messor.page_snapshots s ON s.id = t.snapshot_id
                  WHERE t.run_id = r.id AND s.verdict IS NOT NULL)
      THEN 'a tile was made of a page that stood in the way'
    END AS fault
    FROM met r
   WHERE r.was_blocked OR r.outcome = 'blocked'
      OR jsonb_array_length(r.signals) > 0
){ANSWER}"""

# Decay and rounding cost a point and a half at most.
RISK = f"""{RUNS}, signals AS (
  SELECT r.id AS run_id, r.trace_id, h.host, h.risk_score, h.risk_at, l.host_id, l.occurred_at,
         l.signal, l.points, l.score,
         ($2::jsonb ->> split_part(l.signal, ':', 1))::real AS due,
         (SELECT messor.risk_at(b.score, b.occurred_at, l.occurred_at) FROM messor.friction_log b
           WHERE b.host_id = l.host_id AND (b.occurred_at, b.score) < (l.occurred_at, l.score)
           ORDER BY b.occurred_at DESC, b.score DESC LIMIT 1) AS before
    FROM runs r JOIN messor.hosts h ON h.domain_id = r.domain_id
    JOIN messor.friction_log l ON l.host_id = h.id
     AND l.occurred_at BETWEEN r.started_at AND r.completed_at
), judged AS (
  SELECT run_id, trace_id, score > {HIGH} AS is_special, CASE
    WHEN points IS DISTINCT FROM due THEN signal || ' added ' || points || ', not ' || due
    WHEN score < least(coalesce(before, 0) + points, 100) - 1.5
      THEN signal || ' at ' || host || ' led to ' || round(score::numeric) || ' after '
           || round(coalesce(before, 0)::numeric)
    WHEN risk_at IS NULL OR risk_at < occurred_at - interval '1 second' OR risk_score < points - 0.5
      THEN host || '''s score does not know of ' || signal
    END AS fault
    FROM signals
  UNION ALL
  SELECT r.id, r.trace_id, false,
         'it says risk ' || (r.nm ->> 'domainRiskScore') || ', its hosts had ' || round(s.score::numeric)
    FROM runs r CROSS JOIN LATERAL (
      SELECT max(messor.risk_at(g.score, g.occurred_at, r.completed_at)) AS score FROM signals g
       WHERE g.run_id = r.id AND g.host_id IN (SELECT f.host_id FROM fetches f WHERE f.run_id = r.id)) s
   WHERE s.score - 1.5 > {_number("r.", "domainRiskScore")}
){ANSWER}"""
