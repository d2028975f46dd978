-- Migration 001. Times are read through messor.clock(), never now(): tests move it, and a long
-- transaction must not judge leases by the time it began.

DO $$
BEGIN
  -- Asked for by the AMI specification; nothing depends on it, and not every server carries it.
  IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pgcrypto') THEN
    CREATE EXTENSION IF NOT EXISTS pgcrypto;
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE NOTICE 'pgcrypto was not created: not permitted';
END $$;

CREATE FUNCTION messor.clock() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
  SELECT clock_timestamp()
         + coalesce(nullif(current_setting('messor.clock_offset', true), '')::interval, interval '0')
$$;

-- Makes the monthly partitions of a log from last month to `ahead` months from now, and one for
-- everything else, so that a clock gone wrong or a missed upkeep never loses a row.
CREATE FUNCTION messor.make_partitions(log text, ahead int DEFAULT 3) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  month date;
BEGIN
  IF to_regclass(format('messor.%I', log || '_other')) IS NULL THEN
    EXECUTE format('CREATE TABLE messor.%I PARTITION OF messor.%I DEFAULT', log || '_other', log);
  END IF;
  FOR month IN
    SELECT generate_series(date_trunc('month', messor.clock()) - interval '1 month',
                           date_trunc('month', messor.clock()) + make_interval(months => ahead),
                           interval '1 month')
  LOOP
    -- Asked first: CREATE … IF NOT EXISTS would lock the log even when there is nothing to do.
    CONTINUE WHEN to_regclass(format('messor.%I', log || to_char(month, '_YYYY_MM'))) IS NOT NULL;
    EXECUTE format(
      'CREATE TABLE messor.%I PARTITION OF messor.%I FOR VALUES FROM (%L) TO (%L)',
      log || to_char(month, '_YYYY_MM'), log, month, month + interval '1 month');
  END LOOP;
END $$;

-- Upkeep of all logs; any worker does it, one at a time.
CREATE FUNCTION messor.make_all_partitions() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF pg_try_advisory_xact_lock(hashtextextended('messor.partitions', 0)) THEN
    PERFORM messor.make_partitions(c.relname::text) FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = 'messor' AND c.relkind = 'p';
  END IF;
END $$;

-- Registry -----------------------------------------------------------------------------------

CREATE TABLE messor.domains (
  id uuid PRIMARY KEY,
  domain text COLLATE "C" NOT NULL UNIQUE CHECK (domain <> '' AND domain = lower(domain)),
  base_url text NOT NULL,
  status text NOT NULL DEFAULT 'pending_review' CHECK (
    status IN ('pending_review', 'approved', 'rejected', 'suspended', 'blacklisted')),
  processing text NOT NULL DEFAULT 'discovered' CHECK (
    processing IN ('discovered', 'processing', 'processed_high_quality', 'processed_low_quality',
                   'no_funds_this_year', 'processing_failed')),
  submitted_by text NOT NULL,
  submitter_type text NOT NULL CHECK (submitter_type IN ('admin', 'public_user', 'system')),
  submission_context text,
  reviewed_by text,
  reviewed_at timestamptz,
  rejection_reason text,
  max_crawl_depth smallint NOT NULL DEFAULT 3 CHECK (max_crawl_depth BETWEEN 0 AND 100),
  page_budget integer NOT NULL DEFAULT 10000 CHECK (page_budget > 0),
  crawl_delay_seconds real CHECK (crawl_delay_seconds >= 0),
  max_concurrent_requests smallint NOT NULL DEFAULT 5
    CHECK (max_concurrent_requests BETWEEN 1 AND 1000),
  scrape_frequency_hours integer CHECK (scrape_frequency_hours > 0),
  track_level text CHECK (track_level IN ('A', 'B', 'C', 'D')),
  is_trusted_domain boolean NOT NULL DEFAULT false,
  domain_class text NOT NULL DEFAULT 'unknown',
  active boolean NOT NULL DEFAULT true,
  policy_version integer NOT NULL DEFAULT 1,
  pages_known integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  updated_at timestamptz NOT NULL DEFAULT messor.clock(),
  CHECK (status NOT IN ('rejected', 'blacklisted') OR coalesce(rejection_reason, '') <> ''),
  CHECK (status IN ('pending_review', 'blacklisted') OR reviewed_at IS NOT NULL)
);
CREATE INDEX domains_status ON messor.domains (status, created_at);

-- What must never be kept again: checked before a page is fetched and when it is read.
CREATE TABLE messor.erasures (
  id uuid PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('domain', 'url')),
  key text COLLATE "C" NOT NULL,
  reason text NOT NULL,
  erased_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  UNIQUE (kind, key)
);

-- Courtesy -----------------------------------------------------------------------------------

CREATE TABLE messor.hosts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  domain_id uuid NOT NULL REFERENCES messor.domains ON DELETE CASCADE,
  host text COLLATE "C" NOT NULL UNIQUE,       -- authority: name, and port unless the default
  risk_score real NOT NULL DEFAULT 0 CHECK (risk_score BETWEEN 0 AND 100),
  risk_at timestamptz,
  friction_events jsonb NOT NULL DEFAULT '[]',
  cooldown_until timestamptz,                  -- told to be silent until then (Retry-After)
  cooldown_reason text,
  robots_id bigint,                            -- the version in force
  robots_checked_at timestamptz,
  last_request_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  updated_at timestamptz NOT NULL DEFAULT messor.clock()
) WITH (fillfactor = 80);
CREATE INDEX hosts_domain ON messor.hosts (domain_id);

-- One row per version of a host's robots.txt; a refresh that changes nothing adds none.
CREATE TABLE messor.robots_files (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  host_id bigint NOT NULL REFERENCES messor.hosts ON DELETE CASCADE,
  verdict text NOT NULL CHECK (verdict IN ('rules', 'allow_all', 'deny_all')),
  reason text NOT NULL,
  status_code smallint,
  body bytea NOT NULL,
  body_hash bytea NOT NULL,
  crawl_delay real,
  fetched_at timestamptz NOT NULL DEFAULT messor.clock()
);
CREATE INDEX robots_files_host ON messor.robots_files (host_id, id DESC);

CREATE TABLE messor.worker_leases (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT messor.clock(),
  expires_at timestamptz NOT NULL,
  flushes bigint NOT NULL DEFAULT 0,           -- number of the last flush that committed
  ended_at timestamptz,
  end_reason text CHECK (end_reason IN ('stopped', 'expired'))
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0);
CREATE INDEX worker_leases_live ON messor.worker_leases (expires_at) WHERE ended_at IS NULL;

-- A lane is claimed by claim_at alone, so a claim never scans tasks.
CREATE TABLE messor.lanes (
  host_id bigint PRIMARY KEY REFERENCES messor.hosts ON DELETE CASCADE,
  domain_id uuid NOT NULL,
  address text COLLATE "C",                    -- address group; NULL while unknown or exempt
  ready_at timestamptz NOT NULL DEFAULT messor.clock(),  -- no request before: politeness
  due_at timestamptz,                          -- the earliest due task; NULL when there is none
  claim_at timestamptz,                        -- the later of both; later still when slots were full
  worker_id bigint,                            -- the worker lease that holds it
  token bigint NOT NULL DEFAULT 0,             -- fencing: grows with each claim
  slots smallint NOT NULL DEFAULT 0,           -- of its domain and address, while held
  delay real NOT NULL DEFAULT 1,               -- in force during the visit, for its successor
  claimed_at timestamptz
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX lanes_claim ON messor.lanes (claim_at) WHERE worker_id IS NULL AND claim_at IS NOT NULL;
CREATE INDEX lanes_held_domain ON messor.lanes (domain_id) WHERE worker_id IS NOT NULL;
CREATE INDEX lanes_held_address ON messor.lanes (address) WHERE worker_id IS NOT NULL;
CREATE INDEX lanes_held_worker ON messor.lanes (worker_id) WHERE worker_id IS NOT NULL;

-- The lease history: who held which lane, from when to when.
CREATE TABLE messor.visits (
  host_id bigint NOT NULL,
  token bigint NOT NULL,
  worker_id bigint NOT NULL,
  claimed_at timestamptz NOT NULL,
  ended_at timestamptz,
  end_reason text,
  pages integer NOT NULL DEFAULT 0
) PARTITION BY RANGE (claimed_at);
CREATE INDEX visits_host ON messor.visits (host_id, claimed_at DESC);
SELECT messor.make_partitions('visits');

-- Frontier -----------------------------------------------------------------------------------

CREATE TABLE messor.pages (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  host_id bigint NOT NULL REFERENCES messor.hosts ON DELETE CASCADE,
  url_hash bytea NOT NULL,                     -- SHA-256 of the canonical form
  url text COLLATE "C" NOT NULL,
  found_by text NOT NULL CHECK (found_by IN ('seed', 'robots', 'sitemap', 'link', 'redirect', 'manual')),
  found_on bigint,                             -- the page that led here
  depth smallint NOT NULL DEFAULT 0,
  hops smallint NOT NULL DEFAULT 0,            -- redirects in a row that led here
  category text,
  found_at timestamptz NOT NULL DEFAULT messor.clock(),
  UNIQUE (host_id, url_hash)                   -- host first: neighbours share index pages
);

CREATE TABLE messor.crawl_tasks (
  page_id bigint PRIMARY KEY REFERENCES messor.pages ON DELETE CASCADE,
  host_id bigint NOT NULL,
  kind text NOT NULL DEFAULT 'page' CHECK (kind IN ('page', 'robots', 'sitemap', 'image', 'preflight', 'render')),
  priority smallint NOT NULL DEFAULT 5 CHECK (priority BETWEEN 0 AND 10),  -- 0 is for robots
  due_at timestamptz,                          -- NULL: not scheduled
  status text NOT NULL DEFAULT 'pending' CHECK (
    status IN ('pending', 'completed', 'failed', 'paused', 'cancelled')),
  outcome text,                                -- of the last fetch
  retry_count smallint NOT NULL DEFAULT 0,
  max_retries smallint NOT NULL DEFAULT 3,
  crawl_frequency interval,
  last_fetched_at timestamptz,
  completed_at timestamptz,
  last_status smallint,
  snapshot_id bigint,                          -- the newest good one
  raw_hash bytea,
  etag text,
  last_modified text,
  refusal text,                                -- rule and reason of the standing "no"
  error_message text
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX crawl_tasks_due ON messor.crawl_tasks (host_id, priority, due_at) WHERE due_at IS NOT NULL;

-- Links that were seen and never became pages, by the rule that said no.
CREATE TABLE messor.refused_links (
  host_id bigint NOT NULL REFERENCES messor.hosts ON DELETE CASCADE,
  rule text COLLATE "C" NOT NULL,
  links bigint NOT NULL,
  PRIMARY KEY (host_id, rule)
) WITH (fillfactor = 50);

-- Fetch --------------------------------------------------------------------------------------

CREATE TABLE messor.http_fetches (
  id bigint GENERATED ALWAYS AS IDENTITY,
  fetched_at timestamptz NOT NULL,             -- when the request was written, or the attempt began
  page_id bigint NOT NULL,
  host_id bigint NOT NULL,
  visit_token bigint NOT NULL,
  outcome text NOT NULL,
  status_code smallint,
  size integer,
  duration_ms integer NOT NULL,
  waited_ms integer NOT NULL,                  -- gap to the lane's previous request
  fetch_provider text NOT NULL DEFAULT 'http',
  provider_cost numeric,
  quality_gate_failed text,
  rule text NOT NULL,
  policy_version integer NOT NULL,
  robots_id bigint,
  final_url text,
  headers_json jsonb,
  error_json jsonb
) PARTITION BY RANGE (fetched_at);
CREATE INDEX idx_fetches_page ON messor.http_fetches (page_id, fetched_at DESC);
SELECT messor.make_partitions('http_fetches');

-- Archive ------------------------------------------------------------------------------------

CREATE TABLE messor.segments (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  worker_id bigint NOT NULL,                   -- the worker lease it is written under
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'sealed')),
  bytes bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  sealed_at timestamptz
);

CREATE TABLE messor.page_snapshots (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  page_id bigint NOT NULL,
  content_hash bytea NOT NULL,
  data_hash bytea NOT NULL,
  raw_hash bytea NOT NULL,
  reader_version smallint NOT NULL,
  segment_id bigint NOT NULL,
  segment_offset bigint NOT NULL,
  segment_length integer NOT NULL,
  size integer NOT NULL,
  status_code smallint NOT NULL,
  provider text NOT NULL DEFAULT 'http',
  content_type text,
  title text,
  description text,
  language text,
  crawled_at timestamptz NOT NULL,
  UNIQUE (page_id, content_hash, data_hash)
);

CREATE TABLE messor.snapshot_texts (
  snapshot_id bigint PRIMARY KEY,
  markdown text NOT NULL,
  data jsonb
);
-- Uncompressed: pages are read whole, and pglz costs more CPU than it saves here.
ALTER TABLE messor.snapshot_texts ALTER markdown SET STORAGE EXTERNAL, ALTER data SET STORAGE EXTERNAL;

CREATE TABLE messor.page_changes (
  page_id bigint NOT NULL,
  seen_at timestamptz NOT NULL,
  snapshot_id bigint,
  state text NOT NULL CHECK (state IN ('new', 'changed', 'removed')),
  PRIMARY KEY (page_id, seen_at)
);

-- Ledger -------------------------------------------------------------------------------------

-- Read by commit order: WHERE tx < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY tx, id.
CREATE TABLE messor.events (
  id bigint GENERATED ALWAYS AS IDENTITY,
  tx xid8 NOT NULL DEFAULT pg_current_xact_id(),
  occurred_at timestamptz NOT NULL DEFAULT messor.clock(),
  type text NOT NULL,
  actor text NOT NULL,
  domain_id uuid,
  page_id bigint,
  data jsonb NOT NULL DEFAULT '{}'
) PARTITION BY RANGE (occurred_at);
CREATE INDEX events_order ON messor.events (tx, id);
SELECT messor.make_partitions('events');

CREATE TABLE messor.decisions (
  decided_at timestamptz NOT NULL DEFAULT messor.clock(),
  page_id bigint NOT NULL,
  verdict text NOT NULL CHECK (verdict IN ('denied', 'deferred')),
  rule text NOT NULL,
  reason text NOT NULL,
  policy_version integer NOT NULL,
  robots_id bigint
) PARTITION BY RANGE (decided_at);
CREATE INDEX decisions_page ON messor.decisions (page_id, decided_at DESC);
SELECT messor.make_partitions('decisions');

CREATE TABLE messor.error_logs (
  occurred_at timestamptz NOT NULL DEFAULT messor.clock(),
  crawl_task_id bigint,
  job_id uuid,
  category text NOT NULL,
  error_type text NOT NULL,
  error_message text NOT NULL,
  stack_trace text,
  detail jsonb
) PARTITION BY RANGE (occurred_at);
SELECT messor.make_partitions('error_logs');

-- Queue --------------------------------------------------------------------------------------

CREATE TABLE messor.jobs (
  id uuid PRIMARY KEY,
  job_type text NOT NULL,
  target_kind text NOT NULL,
  target_id uuid,
  target_url text,
  input_hash text,
  prompt_version text,
  model text,
  dedupe_key text COLLATE "C" NOT NULL UNIQUE,
  state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'done', 'dead', 'cancelled')),
  payload jsonb NOT NULL DEFAULT '{}',
  result_json jsonb,
  priority smallint NOT NULL DEFAULT 5 CHECK (priority BETWEEN 1 AND 10),
  available_at timestamptz NOT NULL DEFAULT messor.clock(),
  locked_at timestamptz,
  lock_expires_at timestamptz,
  locked_by text,
  token bigint NOT NULL DEFAULT 0,
  attempts smallint NOT NULL DEFAULT 0,
  max_attempts smallint NOT NULL DEFAULT 3,
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  started_at timestamptz,
  finished_at timestamptz
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
-- Waiting and abandoned jobs alike: while a job runs, available_at is when its lease ends.
CREATE INDEX idx_jobs_claim ON messor.jobs (job_type, priority, available_at)
  WHERE state IN ('queued', 'running');

-- The path's functions -----------------------------------------------------------------------

-- Ends worker leases that ran out. Their lanes wait until the dead holder's last possible
-- request is `delay` old: it may have sent one just before its lease ended.
CREATE FUNCTION messor.reap_workers() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  reaped integer;
BEGIN
  WITH dead AS (
    SELECT id, expires_at FROM messor.worker_leases
     WHERE ended_at IS NULL AND expires_at < (SELECT messor.clock())
     ORDER BY id FOR UPDATE SKIP LOCKED
  ), ended AS (
    UPDATE messor.worker_leases w SET ended_at = d.expires_at, end_reason = 'expired'
      FROM dead d WHERE w.id = d.id RETURNING w.id
  ), closed AS (
    UPDATE messor.visits v SET ended_at = d.expires_at, end_reason = 'expired'
      FROM dead d JOIN messor.lanes l ON l.worker_id = d.id
     WHERE v.host_id = l.host_id AND v.token = l.token AND v.claimed_at = l.claimed_at
  )
  UPDATE messor.lanes l
     SET worker_id = NULL, slots = 0, claimed_at = NULL,
         ready_at = greatest(l.ready_at, d.expires_at + make_interval(secs => l.delay)),
         claim_at = greatest(l.ready_at, d.expires_at + make_interval(secs => l.delay))
    FROM dead d WHERE l.worker_id = d.id;
  GET DIAGNOSTICS reaped = ROW_COUNT;
  RETURN reaped;
END $$;

-- Claims up to `wanted` lanes for a worker, each with slots of its domain and of its address.
-- Transaction-level advisory locks make "count the slots, then take one" atomic per domain and
-- address without touching a row; a contended one is left to the next call. Counting happens in
-- a statement of its own, after the locks, so that its snapshot is true.
CREATE FUNCTION messor.claim_lanes(worker bigint, wanted integer, default_delay real,
                                   address_slots integer, look_ahead real)
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
    WHERE w.id = worker AND w.ended_at IS NULL AND w.expires_at > t FOR SHARE;
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
  WITH wish AS (
    SELECT l.host_id, l.domain_id, l.address, l.claim_at, d.max_concurrent_requests AS cap, p.delay,
           CASE WHEN p.delay = 0 THEN d.max_concurrent_requests ELSE 1 END AS want
      FROM messor.lanes l
      JOIN messor.domains d ON d.id = l.domain_id AND d.status = 'approved' AND d.active
      JOIN messor.hosts h ON h.id = l.host_id
      LEFT JOIN messor.robots_files r ON r.id = h.robots_id
      CROSS JOIN LATERAL (SELECT greatest(coalesce(d.crawl_delay_seconds, default_delay),
                                          coalesce(r.crawl_delay, 0)) AS delay) p
     WHERE l.host_id = ANY (candidates) AND l.domain_id = ANY (open_domains)
       AND (l.address IS NULL OR l.address = ANY (open_addresses))
  ), domain_use AS (
    SELECT l.domain_id, sum(l.slots) AS used FROM messor.lanes l
     WHERE l.worker_id IS NOT NULL AND l.domain_id = ANY (open_domains) GROUP BY 1
  ), address_use AS (
    SELECT l.address, sum(l.slots) AS used FROM messor.lanes l
     WHERE l.worker_id IS NOT NULL AND l.address = ANY (open_addresses) GROUP BY 1
  ), granted AS (
    SELECT w.host_id, w.delay, w.claim_at, least(w.want,
             w.cap - coalesce(du.used, 0)
               - coalesce(sum(w.want) OVER (PARTITION BY w.domain_id ORDER BY w.claim_at, w.host_id
                          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0),
             CASE WHEN w.address IS NULL THEN w.want ELSE address_slots - coalesce(au.used, 0)
               - coalesce(sum(w.want) OVER (PARTITION BY w.address ORDER BY w.claim_at, w.host_id
                          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) END
           )::smallint AS slots
      FROM wish w LEFT JOIN domain_use du USING (domain_id) LEFT JOIN address_use au USING (address)
  ), chosen AS (
    SELECT * FROM granted g WHERE g.slots > 0 ORDER BY g.claim_at LIMIT wanted
  ), held AS (
    UPDATE messor.lanes l SET worker_id = worker, token = l.token + 1, slots = c.slots,
                              delay = c.delay, claimed_at = t
      FROM chosen c WHERE l.host_id = c.host_id
    RETURNING l.host_id, l.token, l.claimed_at, l.slots, l.delay, l.ready_at
  ), put_off AS (
    -- Full or contended: to the back of the line, so that they cannot starve the others.
    UPDATE messor.lanes l SET claim_at = t + interval '0.5 second'
     WHERE l.host_id = ANY (candidates) AND l.host_id IN (SELECT w.host_id FROM wish w)
       AND l.host_id NOT IN (SELECT g.host_id FROM granted g WHERE g.slots > 0)
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

-- Tells which addresses the hosts of held lanes turned out to have, and takes their slots.
-- Answers the slots each lane may use; 0 means the address is full and the lane was given back.
CREATE FUNCTION messor.settle_addresses(worker bigint, host_ids bigint[], tokens bigint[],
                                        addresses text[], address_slots integer)
RETURNS TABLE (host_id bigint, slots smallint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  lane record;
  used integer;
  granted smallint;
BEGIN
  FOR lane IN
    SELECT l.host_id, l.token, l.claimed_at, l.slots, r.address
      FROM unnest(host_ids, tokens, addresses) AS r (host_id, token, address)
      JOIN messor.lanes l ON l.host_id = r.host_id AND l.token = r.token AND l.worker_id = worker
     ORDER BY r.address, l.host_id
  LOOP
    PERFORM pg_advisory_xact_lock(hashtextextended('address:' || lane.address, 0));
    SELECT coalesce(sum(o.slots), 0) INTO used FROM messor.lanes o
     WHERE o.worker_id IS NOT NULL AND o.address = lane.address AND o.host_id <> lane.host_id;
    granted := greatest(least(lane.slots, address_slots - used), 0);
    IF granted > 0 THEN
      UPDATE messor.lanes l SET address = lane.address, slots = granted
       WHERE l.host_id = lane.host_id;
    ELSE
      UPDATE messor.lanes l
         SET address = lane.address, worker_id = NULL, slots = 0, claimed_at = NULL,
             claim_at = messor.clock() + interval '0.5 second'
       WHERE l.host_id = lane.host_id;
      UPDATE messor.visits v SET ended_at = messor.clock(), end_reason = 'address_full'
       WHERE v.host_id = lane.host_id AND v.token = lane.token AND v.claimed_at = lane.claimed_at;
    END IF;
    RETURN QUERY SELECT lane.host_id, granted;
  END LOOP;
END $$;

-- Counted when somebody asks: counting at every crawl cost a twelfth of a page's CPU.
CREATE FUNCTION messor.count_words(markdown text) RETURNS integer LANGUAGE sql IMMUTABLE STRICT AS $$
  SELECT coalesce(array_length(regexp_split_to_array(nullif(btrim(markdown, E' \t\r\n'), ''), '\s+'), 1), 0)
$$;

-- The specifications' names, as views --------------------------------------------------------

CREATE VIEW messor.domain_risk AS
SELECT host AS hostname, risk_score, friction_events, last_request_at AS last_fetch_at,
       created_at, updated_at FROM messor.hosts;

CREATE VIEW messor.page_html AS
SELECT DISTINCT ON (page_id, content_hash) id, page_id, content_hash, raw_hash, segment_id,
       segment_offset, segment_length, size, crawled_at AS fetched_at
  FROM messor.page_snapshots ORDER BY page_id, content_hash, id DESC;

CREATE VIEW messor.page_content AS
SELECT DISTINCT ON (s.page_id, s.content_hash) s.id, s.page_id, s.content_hash, t.markdown,
       messor.count_words(t.markdown) AS word_count, s.provider, s.crawled_at AS fetched_at
  FROM messor.page_snapshots s JOIN messor.snapshot_texts t ON t.snapshot_id = s.id
 ORDER BY s.page_id, s.content_hash, s.id DESC;

-- Task status as people read it: queued and crawling follow from the lane's lease.
CREATE VIEW messor.crawl_task_status AS
SELECT t.page_id, t.host_id, h.domain_id, p.url, encode(p.url_hash, 'hex') AS url_hash, t.kind,
       CASE WHEN t.status <> 'pending' AND t.due_at > messor.clock() THEN t.status
            WHEN t.status IN ('paused', 'cancelled') THEN t.status
            WHEN l.worker_id IS NOT NULL AND t.due_at <= messor.clock() THEN 'crawling'
            WHEN t.due_at <= messor.clock() THEN 'queued'
            ELSE t.status END AS status,
       t.outcome, t.priority, t.due_at AS scheduled_at, t.due_at AS next_crawl_at, t.retry_count,
       t.max_retries, t.crawl_frequency, t.last_fetched_at AS last_crawled_at, t.completed_at,
       t.last_status AS last_http_status, t.refusal, t.error_message
  FROM messor.crawl_tasks t JOIN messor.pages p ON p.id = t.page_id
  JOIN messor.hosts h ON h.id = t.host_id JOIN messor.lanes l ON l.host_id = t.host_id;
