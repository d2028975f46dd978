-- Migration 002: everything between "this domain is approved" and "this content is kept".

-- Registry: terms of a domain ------------------------------------------------------------------

ALTER TABLE messor.domains
  ADD main_host_id bigint,                     -- where its base URL ends after redirects
  ADD harvest text NOT NULL DEFAULT 'site' CHECK (harvest IN ('site', 'asked')),  -- all, or only pages asked for
  ADD on_block text NOT NULL DEFAULT 'respect' CHECK (on_block IN ('respect', 'failover')),
  ADD render text NOT NULL DEFAULT 'auto' CHECK (render IN ('auto', 'never')),  -- other providers than HTTP
  ADD directives text NOT NULL DEFAULT 'respect' CHECK (directives IN ('respect', 'ignore')),  -- noindex, nofollow
  ADD reservations text NOT NULL DEFAULT 'record' CHECK (reservations IN ('record', 'respect')),  -- TDM, Content-Signal
  ADD robots_forbidden text NOT NULL DEFAULT 'allow' CHECK (robots_forbidden IN ('allow', 'deny')),  -- 401, 403
  ADD proxies text NOT NULL DEFAULT 'none' CHECK (proxies IN ('none', 'pool')),
  ADD verify_tls boolean NOT NULL DEFAULT true;

-- Courtesy: risk, friction, slowness -----------------------------------------------------------

DROP VIEW messor.domain_risk;
ALTER TABLE messor.hosts DROP friction_events,
  ADD latency real,                            -- seconds to an answer, a moving average
  ADD refusals smallint NOT NULL DEFAULT 0,    -- answers in a row that asked for silence
  ADD caged boolean NOT NULL DEFAULT false;    -- a page of it ended its reader's process
ALTER TABLE messor.lanes
  ADD slow boolean NOT NULL DEFAULT false,     -- its host takes long; few of these at a time
  ADD mode_delay real,                         -- of the ingestion that is under way
  ADD mode_until timestamptz,
  ADD assisted_until timestamptz;              -- a reviewer asked for pages in spite of the risk

-- Every signal that a host would rather not see us, and the score it led to: the risk's history.
CREATE TABLE messor.friction_log (
  occurred_at timestamptz NOT NULL,
  host_id bigint NOT NULL,
  page_id bigint,
  signal text NOT NULL,
  points real NOT NULL,
  score real NOT NULL
) PARTITION BY RANGE (occurred_at);
CREATE INDEX friction_log_host ON messor.friction_log (host_id, occurred_at DESC);
SELECT messor.make_partitions('friction_log');

-- A tenth goes each day, read lazily.
CREATE FUNCTION messor.risk_at(score real, scored_at timestamptz, t timestamptz) RETURNS real
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN coalesce(score, 0) = 0 OR scored_at IS NULL THEN 0
              ELSE score * power(0.9, greatest(extract(epoch FROM t - scored_at), 0) / 86400.0)
         END::real
$$;

-- What a level asks for beyond the usual delay: medium from 21, high from 51.
CREATE FUNCTION messor.risk_delay(risk real) RETURNS real LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN risk > 50 THEN 2.0 WHEN risk > 20 THEN 1.2 ELSE 0 END::real
$$;

CREATE FUNCTION messor.risk_level(risk real) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN risk > 80 THEN 'critical' WHEN risk > 50 THEN 'high' WHEN risk > 20 THEN 'medium'
              ELSE 'low' END
$$;

-- When a critical score will have decayed to 80; NULL when it is not critical.
CREATE FUNCTION messor.critical_until(score real, scored_at timestamptz) RETURNS timestamptz
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN score > 80
              THEN scored_at + make_interval(secs => 86400.0 * ln(80.0 / score) / ln(0.9)) END
$$;

-- A robots.txt that is found elsewhere: the host waits for what that page says.
CREATE TABLE messor.robots_redirects (
  host_id bigint PRIMARY KEY REFERENCES messor.hosts ON DELETE CASCADE,
  page_id bigint NOT NULL,                     -- the robots task that will answer for it
  hops smallint NOT NULL
);
CREATE INDEX robots_redirects_page ON messor.robots_redirects (page_id);
ALTER TABLE messor.robots_files
  ADD signals jsonb,                           -- Content-Signal lines
  ADD redirected_to text;

-- Frontier: sitemaps, patterns -----------------------------------------------------------------

ALTER TABLE messor.pages ADD sitemap_lastmod timestamptz;
ALTER TABLE messor.crawl_tasks
  ADD provider text,                           -- who brought the newest good content; NULL: HTTP
  ADD deaths smallint NOT NULL DEFAULT 0;      -- processes it killed

CREATE TABLE messor.sitemaps (
  page_id bigint PRIMARY KEY REFERENCES messor.pages ON DELETE CASCADE,
  host_id bigint NOT NULL,
  parent_id bigint,                            -- the sitemap that names it
  depth smallint NOT NULL DEFAULT 0,
  kind text,
  urls integer NOT NULL DEFAULT 0,
  sitemaps integer NOT NULL DEFAULT 0,
  attempts integer NOT NULL DEFAULT 0,
  error_json jsonb,
  warnings jsonb,
  read_at timestamptz
);
CREATE INDEX sitemaps_host ON messor.sitemaps (host_id);

-- Pages of a pattern that can go on for ever (calendars, facets), counted against its budget.
CREATE TABLE messor.url_patterns (
  host_id bigint NOT NULL REFERENCES messor.hosts ON DELETE CASCADE,
  pattern text COLLATE "C" NOT NULL,
  pages integer NOT NULL DEFAULT 0,
  PRIMARY KEY (host_id, pattern)
) WITH (fillfactor = 70);

-- Fetch: hops, providers, proxies --------------------------------------------------------------

ALTER TABLE messor.http_fetches
  ADD delay_ms integer,                        -- the pause that was due before this request
  ADD proxy_id integer,
  ADD detail jsonb;                            -- friction signals, what a render asked for
ALTER TABLE messor.page_snapshots
  ADD verdict text,                            -- NULL for a good one; blocked, empty, soft_404 …
  ADD signals jsonb;                           -- reservations of rights that came with it

CREATE TABLE messor.provider_usage (
  provider text COLLATE "C" NOT NULL,
  month date NOT NULL,
  requests bigint NOT NULL DEFAULT 0,
  cost numeric NOT NULL DEFAULT 0,
  PRIMARY KEY (provider, month)
);

CREATE TABLE messor.proxies (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  proxy_url text NOT NULL,                     -- host or address, without credentials
  proxy_port integer NOT NULL CHECK (proxy_port BETWEEN 1 AND 65535),
  proxy_protocol text NOT NULL DEFAULT 'http' CHECK (proxy_protocol IN ('http', 'https', 'socks5')),
  proxy_username text NOT NULL DEFAULT '',
  proxy_password bytea,                        -- encrypted
  is_active boolean NOT NULL DEFAULT true,
  failure_count integer NOT NULL DEFAULT 0,    -- in a row
  success_count bigint NOT NULL DEFAULT 0,
  failures bigint NOT NULL DEFAULT 0,          -- in all
  cost_per_request numeric,
  cost numeric NOT NULL DEFAULT 0,
  avg_response_time_ms integer,
  last_used_at timestamptz,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  last_error text,
  probe_at timestamptz,                        -- when a disabled one is tried again
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  updated_at timestamptz NOT NULL DEFAULT messor.clock(),
  UNIQUE (proxy_protocol, proxy_url, proxy_port, proxy_username)
);
CREATE INDEX idx_proxies_last_used_at ON messor.proxies (last_used_at) WHERE is_active;

-- How much went to a domain through a proxy, by the hour.
CREATE TABLE messor.proxy_requests (
  domain_id uuid NOT NULL,
  proxy_id integer NOT NULL,
  window_start timestamptz NOT NULL,
  requests integer NOT NULL,
  PRIMARY KEY (domain_id, proxy_id, window_start)
);

-- Ingestion: orbits, tiles, runs ---------------------------------------------------------------

CREATE TABLE messor.orbits (
  id uuid PRIMARY KEY,
  slug text COLLATE "C" NOT NULL UNIQUE CHECK (slug ~ '^[a-z0-9](-?[a-z0-9]+)*$' AND length(slug) <= 100),
  name text NOT NULL,
  owner text NOT NULL,
  domain_id uuid REFERENCES messor.domains ON DELETE SET NULL,
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  updated_at timestamptz NOT NULL DEFAULT messor.clock()
);

CREATE TABLE messor.ingestion_runs (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  trace_id text COLLATE "C" NOT NULL UNIQUE,
  orbit_slug text COLLATE "C" NOT NULL,
  mode text NOT NULL CHECK (mode IN ('light', 'standard', 'user_assisted')),
  url text NOT NULL,
  domain_id uuid,
  requested_by text NOT NULL,
  stage text NOT NULL DEFAULT 'discovering' CHECK (stage IN ('discovering', 'fetching', 'done')),
  started_at timestamptz NOT NULL DEFAULT messor.clock(),
  completed_at timestamptz,
  outcome text CHECK (outcome IN ('success', 'partial', 'blocked', 'error')),
  evidence jsonb
);
CREATE INDEX ingestion_runs_orbit ON messor.ingestion_runs (orbit_slug, started_at DESC);

-- The pages a run planned, and why each was chosen.
CREATE TABLE messor.ingestion_pages (
  run_id bigint NOT NULL REFERENCES messor.ingestion_runs ON DELETE CASCADE,
  page_id bigint NOT NULL,
  position smallint NOT NULL,
  reason text NOT NULL,
  cached boolean NOT NULL DEFAULT false,
  PRIMARY KEY (run_id, page_id)
);

CREATE TABLE messor.tiles (
  id uuid PRIMARY KEY,
  orbit_id uuid NOT NULL REFERENCES messor.orbits ON DELETE CASCADE,
  run_id bigint NOT NULL,
  position smallint NOT NULL,
  category text NOT NULL,
  title text NOT NULL,
  summary text NOT NULL,
  items jsonb NOT NULL DEFAULT '[]',
  source_url text NOT NULL,
  snapshot_id bigint,
  confidence real NOT NULL CHECK (confidence BETWEEN 0 AND 1)
);
CREATE INDEX tiles_orbit ON messor.tiles (orbit_id, position);

-- The path's functions -------------------------------------------------------------------------

DROP FUNCTION messor.claim_lanes(bigint, integer, real, integer, real);

-- Claims up to `wanted` lanes for a worker, each with slots of its domain and of its address.
-- Transaction-level advisory locks make "count the slots, then take one" atomic per domain and
-- address without touching a row; a contended one is left to the next call. Counting happens in
-- a statement of its own, after the locks, so that its snapshot is true.
CREATE FUNCTION messor.claim_lanes(worker bigint, wanted integer, default_delay real,
                                   address_slots integer, look_ahead real,
                                   slow_wanted integer)
RETURNS TABLE (host_id bigint, token bigint, claimed_at timestamptz, slots smallint,
               delay real, ready_in float8)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  t timestamptz := messor.clock();
  candidates bigint[];
  full_domains uuid[];
  full_addresses text[];
  open_domains uuid[];
  open_addresses text[];
BEGIN
  PERFORM FROM messor.worker_leases w
    WHERE w.id = worker AND w.ended_at IS NULL AND w.expires_at > t FOR KEY SHARE;  -- a flush renews beside it; the reaper waits
  IF NOT FOUND THEN RETURN; END IF;

  -- Lanes whose domain or address is full are passed over: however many they are, they must not
  -- stand before the others. Held lanes are few, so this is cheap to know.
  SELECT array_agg(f.domain_id) INTO full_domains FROM (
    SELECT l.domain_id FROM messor.lanes l JOIN messor.domains d ON d.id = l.domain_id
     WHERE l.worker_id IS NOT NULL
     GROUP BY l.domain_id, d.max_concurrent_requests
    HAVING sum(l.slots) >= d.max_concurrent_requests) f;
  SELECT array_agg(f.address) INTO full_addresses FROM (
    SELECT l.address FROM messor.lanes l WHERE l.worker_id IS NOT NULL AND l.address IS NOT NULL
     GROUP BY l.address HAVING sum(l.slots) >= address_slots) f;

  SELECT array_agg(c.host_id) INTO candidates FROM (
    SELECT l.host_id FROM messor.lanes l
     WHERE l.worker_id IS NULL AND l.claim_at <= t + make_interval(secs => look_ahead)
       AND (slow_wanted > 0 OR NOT l.slow)
       AND l.domain_id <> ALL (coalesce(full_domains, '{}'))
       AND (l.address IS NULL OR l.address <> ALL (coalesce(full_addresses, '{}')))
     ORDER BY l.claim_at LIMIT wanted * 2 FOR UPDATE SKIP LOCKED) c;
  IF candidates IS NULL THEN RETURN; END IF;
  t := messor.clock();  -- after the lanes were free, so that visits never overlap in the history

  SELECT array_agg(d.domain_id) INTO open_domains FROM (
    SELECT DISTINCT l.domain_id FROM messor.lanes l WHERE l.host_id = ANY (candidates)) d
   WHERE pg_try_advisory_xact_lock(hashtextextended('domain:' || d.domain_id, 0));
  SELECT array_agg(a.address) INTO open_addresses FROM (
    SELECT DISTINCT l.address FROM messor.lanes l
     WHERE l.host_id = ANY (candidates) AND l.address IS NOT NULL) a
   WHERE pg_try_advisory_xact_lock(hashtextextended('address:' || a.address, 0));

  RETURN QUERY
  WITH standing AS (
    SELECT l.host_id, l.domain_id, l.address, l.claim_at, l.slow, l.mode_delay, l.mode_until,
           d.max_concurrent_requests AS cap, d.crawl_delay_seconds, r.crawl_delay,
           messor.risk_at(h.risk_score, h.risk_at, t) AS risk,
           -- A domain is skipped while its main host is critical, a host while it is itself.
           greatest(messor.critical_until(h.risk_score, h.risk_at),
                    messor.critical_until(m.risk_score, m.risk_at)) AS critical_until,
           coalesce(l.assisted_until > t, false) AS assisted
      FROM messor.lanes l
      JOIN messor.domains d ON d.id = l.domain_id AND d.status = 'approved' AND d.active
      JOIN messor.hosts h ON h.id = l.host_id
      LEFT JOIN messor.hosts m ON m.id = d.main_host_id
      LEFT JOIN messor.robots_files r ON r.id = h.robots_id
     WHERE l.host_id = ANY (candidates) AND l.domain_id = ANY (open_domains)
       AND (l.address IS NULL OR l.address = ANY (open_addresses))
  ), wish AS (
    SELECT s.host_id, s.domain_id, s.address, s.claim_at, s.slow, s.cap, p.delay,
           CASE WHEN p.delay = 0 THEN s.cap ELSE 1 END AS want
      FROM standing s
      CROSS JOIN LATERAL (SELECT greatest(
             coalesce(s.crawl_delay_seconds, CASE WHEN s.mode_until > t THEN s.mode_delay END,
                      default_delay),
             messor.risk_delay(s.risk), coalesce(s.crawl_delay, 0))::real AS delay) p
     WHERE s.assisted OR s.critical_until IS NULL OR s.critical_until <= t
  ), domain_use AS (
    SELECT l.domain_id, sum(l.slots) AS used FROM messor.lanes l
     WHERE l.worker_id IS NOT NULL AND l.domain_id = ANY (open_domains) GROUP BY 1
  ), address_use AS (
    SELECT l.address, sum(l.slots) AS used FROM messor.lanes l
     WHERE l.worker_id IS NOT NULL AND l.address = ANY (open_addresses) GROUP BY 1
  ), granted AS (
    SELECT w.host_id, w.delay, w.claim_at, w.slow, least(w.want,
             w.cap - coalesce(du.used, 0)
               - coalesce(sum(w.want) OVER (PARTITION BY w.domain_id ORDER BY w.claim_at, w.host_id
                          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0),
             CASE WHEN w.address IS NULL THEN w.want ELSE address_slots - coalesce(au.used, 0)
               - coalesce(sum(w.want) OVER (PARTITION BY w.address ORDER BY w.claim_at, w.host_id
                          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) END
           )::smallint AS slots
      FROM wish w LEFT JOIN domain_use du USING (domain_id) LEFT JOIN address_use au USING (address)
  ), chosen AS (
    SELECT * FROM (
      SELECT g.*, count(*) FILTER (WHERE g.slow) OVER (ORDER BY g.claim_at, g.host_id) AS slow_rank
        FROM granted g WHERE g.slots > 0) g
     WHERE NOT g.slow OR g.slow_rank <= slow_wanted ORDER BY g.claim_at LIMIT wanted
  ), held AS (
    UPDATE messor.lanes l SET worker_id = worker, token = l.token + 1, slots = c.slots,
                              delay = c.delay, claimed_at = t
      FROM chosen c WHERE l.host_id = c.host_id
    RETURNING l.host_id, l.token, l.claimed_at, l.slots, l.delay, l.ready_at
  ), put_off AS (
    -- Full, contended or one slow host too many: to the back of the line, so that they cannot
    -- starve the others.
    UPDATE messor.lanes l SET claim_at = t + interval '0.5 second'
     WHERE l.host_id = ANY (candidates) AND l.host_id IN (SELECT w.host_id FROM wish w)
       AND (l.slow OR l.host_id NOT IN (SELECT g.host_id FROM granted g WHERE g.slots > 0))
       AND l.host_id NOT IN (SELECT c.host_id FROM chosen c)
  ), skipped AS (
    UPDATE messor.lanes l SET claim_at = s.critical_until FROM standing s
     WHERE l.host_id = s.host_id AND NOT s.assisted AND s.critical_until > t
  ), closed AS (
    -- Of domains that may not be visited; approval opens them again.
    UPDATE messor.lanes l SET claim_at = NULL FROM messor.domains d
     WHERE l.host_id = ANY (candidates) AND d.id = l.domain_id
       AND NOT (d.status = 'approved' AND d.active)
  ), logged AS (
    INSERT INTO messor.visits (host_id, token, worker_id, claimed_at)
    SELECT h.host_id, h.token, worker, h.claimed_at FROM held h
  )
  SELECT h.host_id, h.token, h.claimed_at, h.slots, h.delay,
         greatest(extract(epoch FROM h.ready_at - messor.clock()), 0)::float8 FROM held h;
END $$;

-- The specifications' names, as views ----------------------------------------------------------

CREATE VIEW messor.domain_risk AS
SELECT h.host AS hostname, round(messor.risk_at(h.risk_score, h.risk_at, messor.clock()))::int AS risk_score,
       coalesce((SELECT jsonb_agg(jsonb_build_object('at', f.occurred_at, 'signal', f.signal,
                                                     'points', f.points, 'score', f.score)
                                  ORDER BY f.occurred_at)
                   FROM (SELECT * FROM messor.friction_log f WHERE f.host_id = h.id
                          ORDER BY f.occurred_at DESC LIMIT 50) f), '[]') AS friction_events,
       h.last_request_at AS last_fetch_at, h.created_at, h.updated_at FROM messor.hosts h;

-- What an ingestion takes from the archive instead of asking the site: good answers of a day.
CREATE VIEW messor.url_fetch_cache AS
SELECT encode(p.url_hash, 'hex') AS url_hash, p.url, h.host AS hostname, x.markdown AS content,
       s.status_code, jsonb_strip_nulls(jsonb_build_object('Content-Type', s.content_type,
         'ETag', t.etag, 'Last-Modified', t.last_modified)) AS headers,
       encode(s.content_hash, 'hex') AS content_hash, t.last_fetched_at AS fetched_at,
       t.last_fetched_at + interval '24 hours' AS expires_at, p.id AS page_id, s.id AS snapshot_id
  FROM messor.crawl_tasks t JOIN messor.pages p ON p.id = t.page_id
  JOIN messor.hosts h ON h.id = t.host_id
  JOIN messor.page_snapshots s ON s.id = t.snapshot_id
  JOIN messor.snapshot_texts x ON x.snapshot_id = s.id
 WHERE t.outcome IN ('ok', 'unchanged') AND t.kind = 'page';
