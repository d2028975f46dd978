"""A large installation, written straight into the tables: domains, pages, fetches and the rest.

Set-based, so that millions of rows take minutes. The shape is that of a crawl that has run for two
months: one domain above its budget, some at it, thousands of small ones; five looks at each page, a
tenth of a day's requests within the last hour; every status, outcome and kind of event.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import asyncpg


@dataclass(frozen=True)
class Size:
    """How much there is."""

    domains: int
    pages: int
    looks: int  # fetches of each page
    largest: int  # pages of the largest domain
    large: int  # domains of a fifth of that
    events: int
    jobs: int
    runs: int

    @property
    def fetches(self) -> int:
        return self.pages * self.looks

    @property
    def small(self) -> int:
        """Pages of a domain that is not large."""
        others = self.domains - 1 - self.large
        return (self.pages - self.largest - self.large * self.largest // 5) // others


FULL = Size(10_000, 1_000_000, 5, 50_000, 20, 500_000, 300_000, 2_000)
QUICK = Size(500, 50_000, 5, 10_000, 5, 20_000, 10_000, 200)

# Repeatable chances: a number below 100 for each row.
CHANCE = "abs(hashint8({0}::bigint)) % 100"

DOMAINS = f"""
INSERT INTO messor.domains (id, domain, base_url, status, processing, submitted_by, submitter_type,
  submission_context, reviewed_by, reviewed_at, rejection_reason, is_trusted_domain, review_reason,
  page_budget, failure_reason, failure_count, retry_after, created_at)
SELECT uuidv7(), 'd' || lpad(n::text, 5, '0') || '.example',
       'https://d' || lpad(n::text, 5, '0') || '.example/', s.status,
       CASE WHEN s.chance = 50 THEN 'processing_failed' ELSE 'discovered' END,
       'member:' || n % 40, CASE n % 3 WHEN 0 THEN 'admin' WHEN 1 THEN 'public_user' ELSE 'system' END,
       'asked for by somebody who needs it', 'member:1', messor.clock() - make_interval(days => n % 60),
       CASE WHEN s.status IN ('rejected', 'blacklisted') THEN 'It is not about this.' END,
       s.status = 'approved' AND s.chance < 20,
       CASE WHEN s.chance = 51 THEN 'It has not been reachable for a week.' END,
       CASE WHEN n = 1 THEN {{largest}} ELSE 10000 END,
       CASE WHEN s.chance = 50 THEN 'no page answered' END, (s.chance = 50)::int,
       CASE WHEN s.chance = 50 THEN messor.clock() + interval '1 hour' END,
       messor.clock() - make_interval(secs => ({{domains}} - n) * 500)
  FROM generate_series(1, {{domains}}) n
 CROSS JOIN LATERAL (SELECT {CHANCE.format("n")} AS chance) c
 CROSS JOIN LATERAL (SELECT chance, CASE
    WHEN n <= {{large}} + 1 OR chance < 88 THEN 'approved' WHEN chance < 94 THEN 'pending_review'
    WHEN chance < 96 THEN 'rejected' WHEN chance < 99 THEN 'suspended' ELSE 'blacklisted' END AS status) s
"""

# Every tenth domain has a second host.
HOSTS = """
INSERT INTO messor.hosts (domain_id, host, risk_score, risk_at, last_request_at, robots_checked_at)
SELECT d.id, p.prefix || d.domain, CASE WHEN d.n % 50 = 0 THEN d.n % 100 ELSE 0 END,
       messor.clock() - make_interval(hours => d.n::int % 400),
       CASE WHEN d.status = 'approved' AND d.n % 97 > 0 THEN messor.clock() - make_interval(mins => d.n::int) END,
       messor.clock() - interval '3 hours'
  FROM (SELECT *, row_number() OVER (ORDER BY domain) AS n FROM messor.domains) d
 CROSS JOIN (VALUES ('', 1), ('shop.', 10)) AS p (prefix, every) WHERE d.n % p.every = 0 OR p.every = 1
 ORDER BY p.every, d.n;
INSERT INTO messor.lanes (host_id, domain_id, ready_at, due_at, claim_at)
SELECT h.id, h.domain_id, messor.clock(), messor.clock() + make_interval(mins => (h.id % 1000)::int - 60),
       messor.clock() + make_interval(mins => (h.id % 1000)::int - 60) FROM messor.hosts h;
INSERT INTO messor.robots_files (host_id, verdict, reason, status_code, body, body_hash, fetched_at)
SELECT id, 'rules', 'read', 200, convert_to(E'User-agent: *\nDisallow: /private/\n', 'UTF8'),
       sha256('robots'), messor.clock() - interval '2 days' FROM messor.hosts;
UPDATE messor.hosts h SET robots_id = r.id FROM messor.robots_files r WHERE r.host_id = h.id;
UPDATE messor.domains d SET main_host_id = h.id FROM messor.hosts h WHERE h.host = d.domain;
INSERT INTO messor.worker_leases (name, expires_at)
SELECT 'worker-' || n, messor.clock() + interval '1 hour' FROM generate_series(1, 4) n;
UPDATE messor.lanes SET worker_id = 1 + host_id % 4, claimed_at = messor.clock(), slots = 1, token = 60
 WHERE host_id % 97 = 0
"""

# Found in turns, as a crawl of many hosts finds them.
PAGES = """
INSERT INTO messor.pages (host_id, url_hash, url, found_by, found_on, depth, category, found_at)
SELECT h.id, sha256(convert_to(u.url, 'UTF8')), u.url,
       CASE k WHEN 1 THEN 'robots' WHEN 2 THEN 'sitemap' ELSE 'link' END, NULL, least(k, 5),
       CASE k % 7 WHEN 0 THEN 'products' WHEN 1 THEN 'article' END,
       messor.clock() - interval '60 days' + make_interval(secs => k * 10)
  FROM (SELECT h.id, h.host, row_number() OVER (ORDER BY h.id) AS n FROM messor.hosts h) h
 CROSS JOIN LATERAL generate_series(1, CASE WHEN n = 1 THEN {largest} WHEN n <= {large} + 1
    THEN {largest} / 5 WHEN n <= {domains} THEN {small} ELSE 3 END) k
 CROSS JOIN LATERAL (SELECT 'https://' || h.host || CASE k WHEN 1 THEN '/robots.txt'
    WHEN 2 THEN '/sitemap.xml' ELSE '/section-' || k % 20 || '/part-' || k % 7 || '/page-' || k END AS url) u
 ORDER BY k, h.id
"""

TASKS = f"""
INSERT INTO messor.crawl_tasks (page_id, host_id, kind, priority, due_at, status, outcome, last_fetched_at,
  completed_at, last_status, snapshot_id, held_due_at, refusal, error_message)
SELECT p.id, p.host_id, CASE p.found_by WHEN 'robots' THEN 'robots' WHEN 'sitemap' THEN 'sitemap' ELSE 'page' END,
       1 + p.id % 9, CASE WHEN c.chance IN (4, 5, 6) THEN NULL
         WHEN c.chance < 4 THEN messor.clock() - make_interval(mins => p.id::int % 500)
         ELSE messor.clock() + make_interval(mins => p.id::int % 50000) END,
       CASE WHEN c.chance < 4 OR c.chance BETWEEN 7 AND 9 THEN 'pending' WHEN c.chance IN (4, 5) THEN 'paused'
            WHEN c.chance = 6 THEN 'cancelled' WHEN c.chance < 14 THEN 'failed' ELSE 'completed' END,
       CASE WHEN c.chance BETWEEN 7 AND 9 THEN NULL ELSE o.outcome END,
       CASE WHEN c.chance BETWEEN 7 AND 9 THEN NULL
            ELSE messor.clock() - make_interval(secs => abs(hashint8(p.id)) % 1036800) END,
       messor.clock(), CASE o.outcome WHEN 'blocked' THEN 403 WHEN 'not_found' THEN 404 ELSE 200 END,
       CASE WHEN o.outcome IN ('ok', 'unchanged') THEN p.id END,
       CASE WHEN c.chance IN (4, 5) THEN messor.clock() END,
       CASE WHEN o.outcome = 'refused' THEN 'robots: Disallow: /private/' END,
       CASE WHEN o.outcome = 'timeout' THEN 'no answer in 30 s' END
  FROM messor.pages p CROSS JOIN LATERAL (SELECT {CHANCE.format("p.id")} AS chance) c
 CROSS JOIN LATERAL (SELECT (ARRAY['ok','ok','ok','unchanged','unchanged','unchanged','unchanged',
   'not_found','blocked','timeout','refused'])[1 + abs(hashint8(p.id * 7)) % 11] AS outcome) o
"""

SNAPSHOTS = """
INSERT INTO messor.page_snapshots (id, page_id, content_hash, data_hash, raw_hash, reader_version, segment_id,
  segment_offset, segment_length, size, status_code, content_type, title, description, language, crawled_at)
OVERRIDING SYSTEM VALUE
SELECT p.id, p.id, p.url_hash, p.url_hash, p.url_hash, 1, 1 + p.id / 10000, p.id * 12000, 12000, 51000, 200,
       'text/html', 'Page ' || p.id, 'What page ' || p.id || ' is about', 'en', p.found_at
  FROM messor.pages p;
INSERT INTO messor.snapshot_texts (snapshot_id, markdown)
SELECT id, '# ' || title || E'\\n\\n' || repeat(description || '. ', 4) FROM messor.page_snapshots;
INSERT INTO messor.page_changes (page_id, seen_at, snapshot_id, state)
SELECT id, crawled_at, id, 'new' FROM messor.page_snapshots
"""

# One look of all pages, in the order of time: {look} looks ago, each spread over twelve days; every
# tenth of the newest lies in the last hour.
FETCHES = """
INSERT INTO messor.http_fetches (fetched_at, page_id, host_id, visit_token, outcome, status_code, size,
  duration_ms, waited_ms, delay_ms, rule, policy_version, robots_id, error_json)
SELECT f.at, p.id, p.host_id, 60 - {look}, o.outcome,
       CASE o.outcome WHEN 'blocked' THEN 403 WHEN 'not_found' THEN 404 WHEN 'timeout' THEN NULL ELSE 200 END,
       51000, 120, 1000, 1000, 'approved', 1, p.host_id,
       CASE WHEN o.outcome = 'timeout' THEN '{{"message": "no answer in 30 s"}}'::jsonb END
  FROM messor.pages p
 CROSS JOIN LATERAL (SELECT messor.clock() - make_interval(days => 12 * {look}) - CASE
    WHEN {look} = 0 AND p.id % 10 = 0 THEN make_interval(secs => abs(hashint8(p.id)) % 3600)
    ELSE make_interval(secs => 3600 + abs(hashint8(p.id)) % 1033200) END AS at) f
 CROSS JOIN LATERAL (SELECT (ARRAY['ok','ok','ok','unchanged','unchanged','unchanged','unchanged',
   'not_found','blocked','timeout'])[1 + abs(hashint8(p.id * 7 + {look})) % 10] AS outcome) o
 ORDER BY f.at
"""

LOGS = """
INSERT INTO messor.visits (host_id, token, worker_id, claimed_at, ended_at, end_reason, pages)
SELECT h.id, n, 1 + h.id % 4, v.at, v.at + interval '40 seconds', 'done', 10
  FROM messor.hosts h CROSS JOIN generate_series(1, 60) n
 CROSS JOIN LATERAL (SELECT messor.clock() - make_interval(days => 60 - n, secs => h.id % 86400) AS at) v
 ORDER BY v.at;
INSERT INTO messor.friction_log (occurred_at, host_id, page_id, signal, points, score)
SELECT messor.clock() - make_interval(days => n * 5, secs => h.id % 86400), h.id, NULL, 'status:429', 10, 40
  FROM messor.hosts h CROSS JOIN generate_series(1, 10) n ORDER BY 1;
INSERT INTO messor.decisions (decided_at, page_id, verdict, rule, reason, policy_version)
SELECT messor.clock() - make_interval(secs => p.id % 5000000), p.id, 'denied', 'robots', 'Disallow: /private/', 1
  FROM messor.pages p WHERE p.id % 5 = 0;
INSERT INTO messor.refused_links (host_id, rule, links) SELECT id, 'scope', id * 7 FROM messor.hosts;
INSERT INTO messor.sitemaps (page_id, host_id, kind, urls, attempts, read_at)
SELECT id, host_id, 'urlset', 100, 3, messor.clock() FROM messor.pages WHERE found_by = 'sitemap'
"""

EVENTS = """
INSERT INTO messor.events (tx, occurred_at, type, actor, domain_id, page_id, data)
SELECT (3 + n * 600 / {events})::text::xid8, messor.clock() - make_interval(secs => ({events} - n) * 10), t.type,
       CASE n % 4 WHEN 0 THEN 'system' ELSE 'member:' || n % 40 END,
       d.id, CASE WHEN t.type LIKE 'page.%' THEN n % {pages} + 1 END,
       jsonb_build_object('reason', 'because of number ' || n, 'signal', 'status:429')
  FROM generate_series(1, {events}) n
 CROSS JOIN LATERAL (SELECT (ARRAY['friction.detected','page.flagged','friction.detected','ingestion.completed',
   'domain.approved','session.opened','extraction.completed','tasks.paused','jobs.requeued',
   'domain.submitted'])[1 + n % 10] AS type) t
 JOIN (SELECT id, row_number() OVER (ORDER BY domain) AS r FROM messor.domains) d
   ON d.r = 1 + abs(hashint8(n)) % {domains}
 ORDER BY n
"""

JOBS = f"""
INSERT INTO messor.jobs (id, job_type, target_kind, dedupe_key, state, payload, created_at, available_at,
  started_at, finished_at, locked_by, lock_expires_at, attempts, dead_category, dead_type, dead_reason)
SELECT uuidv7(make_interval(secs => n - {{jobs}})), 'type-' || n % 6, 'page', md5(n::text) || ':2026-W46', s.state,
       '{{{{"page": 17}}}}', m.at, m.at, m.at, CASE WHEN s.state IN ('done', 'dead', 'cancelled') THEN m.at + interval '1 minute' END,
       CASE WHEN s.state = 'running' THEN 'worker-1' END,
       CASE WHEN s.state = 'running' THEN messor.clock() + interval '1 minute' END, 1,
       CASE WHEN s.state = 'dead' THEN (ARRAY['network', 'parsing', 'internal'])[1 + n % 3] END,
       CASE WHEN s.state = 'dead' THEN 'SomethingError' END,
       CASE WHEN s.state = 'dead' THEN 'Page ' || n || ' of https://d00001.example/' || n || ' did not answer' END
  FROM generate_series(1, {{jobs}}) n
 CROSS JOIN LATERAL (SELECT messor.clock() - make_interval(secs => ({{jobs}} - n) * 5) AS at) m
 CROSS JOIN LATERAL (SELECT {CHANCE.format("n")} AS chance) c
 CROSS JOIN LATERAL (SELECT CASE WHEN c.chance < 3 THEN 'queued' WHEN c.chance = 3 AND n % 20 = 0 THEN 'running'
    WHEN c.chance IN (4, 5) THEN 'dead' WHEN c.chance = 6 THEN 'cancelled' ELSE 'done' END AS state) s;
INSERT INTO messor.error_logs (occurred_at, crawl_task_id, category, error_type, error_message)
SELECT messor.clock() - make_interval(secs => n * 30), n, (ARRAY['network', 'parsing', 'internal'])[1 + n % 3],
       'SomethingError', 'Page ' || n || ' did not answer' FROM generate_series(1, {{jobs}} / 3) n
"""

# Three files of many pages, and many small ones.
PEOPLE = """
INSERT INTO messor.members (id, email, name, role, created_by)
SELECT uuidv7(), 'p' || n || '@example.org', 'Person ' || n,
       (ARRAY['admin', 'reviewer', 'submitter', 'viewer'])[1 + n % 4], 'system' FROM generate_series(1, 40) n;
INSERT INTO messor.task_batches (id, name, submitted_by, source, format, lines, accepted, fresh, created_at, finished_at)
SELECT uuidv7(make_interval(mins => n - 500)), 'batch-' || n, 'member:1', 'pages.csv', 'csv', b.pages, b.pages, b.pages,
       messor.clock() - make_interval(mins => 500 - n), messor.clock()
  FROM generate_series(1, 500) n CROSS JOIN LATERAL (
    SELECT CASE WHEN n IN (100, 498, 500) THEN {pages} / 10 ELSE 300 END AS pages) b;
INSERT INTO messor.batch_pages (batch_id, page_id, line)
SELECT b.id, 1 + (k + b.r * 2003) % {pages}, k
  FROM (SELECT id, lines, row_number() OVER (ORDER BY id) AS r FROM messor.task_batches) b
 CROSS JOIN LATERAL generate_series(1, b.lines) k;
INSERT INTO messor.domain_submissions (id, domain_id, submitted_by, submitter_type, max_crawl_depth, created_at)
SELECT uuidv7(), id, submitted_by, submitter_type, 3, created_at FROM messor.domains;
INSERT INTO messor.domain_notes (id, domain_id, author, body)
SELECT uuidv7(), id, 'member:2', 'Looked at it; it is what it says.' FROM messor.domains WHERE page_budget > 0;
INSERT INTO messor.schedules (name, next_run_at) SELECT 'O-' || n, messor.clock() + make_interval(mins => n * 5)
  FROM generate_series(1, 9) n;
INSERT INTO messor.schedule_runs (name, started_at, finished_at, outcome, started_by)
SELECT 'O-' || n % 9, messor.clock() - make_interval(mins => n * 5), messor.clock(), 'ok', 'clockwork'
  FROM generate_series(1, 10000) n;
INSERT INTO messor.orbits (id, slug, name, owner, domain_id)
SELECT uuidv7(), 'orbit-' || row_number() OVER (ORDER BY domain), domain, 'member:1', id
  FROM messor.domains WHERE status = 'approved' LIMIT {runs};
INSERT INTO messor.ingestion_runs (trace_id, orbit_slug, mode, url, domain_id, requested_by, stage, started_at,
  completed_at, outcome, evidence)
SELECT t.trace, o.slug, 'light', 'https://' || o.name || '/', o.domain_id, 'member:1', 'done',
       messor.clock() - make_interval(mins => n::int * 10), messor.clock() - make_interval(mins => n::int * 10) + interval '1 minute',
       'success', jsonb_build_object('traceId', t.trace, 'nm_policyVersion', '1', 'nm_ingest', jsonb_build_object(
         'mode', 'light', 'discoverySources', '["sitemap"]'::jsonb, 'pagesPlanned', 5, 'pagesFetched', 0,
         'pagesUsed', 5, 'cacheHits', 5, 'cacheMisses', 0, 'outcome', 'success', 'frictionSignals', '[]'::jsonb,
         'domainRiskScore', 0, 'durationMs', 60000))
  FROM (SELECT *, row_number() OVER (ORDER BY slug) AS n FROM messor.orbits) o
 CROSS JOIN LATERAL (SELECT md5(o.slug) AS trace) t;
INSERT INTO messor.ingestion_pages (run_id, page_id, position, reason, cached)
SELECT r.id, p.id, p.place, 'sitemap', true FROM messor.ingestion_runs r CROSS JOIN LATERAL (
  SELECT p.id, row_number() OVER (ORDER BY p.id) AS place FROM messor.hosts h JOIN messor.pages p ON p.host_id = h.id
   WHERE h.domain_id = r.domain_id AND p.depth > 2 LIMIT 5) p;
INSERT INTO messor.preflights (id, domain_id, requested_by, requests)
SELECT uuidv7(), id, 'member:1', 0 FROM messor.domains WHERE status = 'pending_review' AND domain < 'd05';
UPDATE messor.domains d SET pages_known = k.pages
  FROM (SELECT h.domain_id, count(*) AS pages FROM messor.pages p JOIN messor.hosts h ON h.id = p.host_id GROUP BY 1) k
 WHERE k.domain_id = d.id
"""


def steps(size: Size) -> list[tuple[str, str]]:
    """What is written, one thing after the other."""
    given = {
        "domains": size.domains,
        "largest": size.largest,
        "large": size.large,
        "small": size.small,
        "pages": size.pages,
        "events": size.events,
        "jobs": size.jobs,
        "runs": size.runs,
    }
    fetches = [
        (f"fetches {size.looks - look} of {size.looks}", FETCHES.format(look=look))
        for look in reversed(range(size.looks))
    ]
    return [
        ("domains", DOMAINS.format(**given)),
        ("hosts", HOSTS),
        ("pages", PAGES.format(**given)),
        ("tasks", TASKS),
        ("snapshots", SNAPSHOTS),
        *fetches,
        ("logs", LOGS),
        ("events", EVENTS.format(**given)),
        ("jobs", JOBS.format(**given)),
        ("people", PEOPLE.format(**given)),
    ]


async def seed(dsn: str, size: Size) -> None:
    """Fill a database that has the schema and nothing else."""
    connection = await asyncpg.connect(dsn, ssl=False)
    try:
        await connection.execute("SET synchronous_commit = off; SET work_mem = '512MB'")
        for name, sql in [*steps(size), ("statistics", "VACUUM ANALYZE")]:
            began = time.monotonic()
            await connection.execute(sql, timeout=3600)
            print(f"  {name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    finally:
        await connection.close()
