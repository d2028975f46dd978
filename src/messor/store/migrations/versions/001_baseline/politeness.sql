-- Hosts, lanes and the leases on them.

CREATE TABLE messor.hosts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  domain_id uuid NOT NULL REFERENCES messor.domains ON DELETE CASCADE,
  host text COLLATE "C" NOT NULL UNIQUE,       -- authority: name, and port unless the default
  risk_score real NOT NULL DEFAULT 0 CHECK (risk_score BETWEEN 0 AND 100),
  risk_at timestamptz,
  cooldown_until timestamptz,                  -- told to be silent until then (Retry-After)
  cooldown_reason text,
  robots_id bigint,                            -- the version in force
  robots_checked_at timestamptz,
  last_request_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  updated_at timestamptz NOT NULL DEFAULT messor.clock(),
  latency real,                                -- seconds to an answer, a moving average
  refusals smallint NOT NULL DEFAULT 0,        -- answers in a row that asked for silence
  caged boolean NOT NULL DEFAULT false,        -- a page of it ended its reader's process
  -- A robots.txt counts for the scheme, host and port that it was read from (RFC 9309 2.3).
  -- `robots_id` is the version in force for `scheme`; `other_robots_id` the one for the other scheme.
  scheme text CHECK (scheme IN ('https', 'http')),  -- NULL: nothing was read yet
  other_robots_id bigint,
  spoke_https boolean NOT NULL DEFAULT false,  -- it answered over https: http never stands in for it
  https_error text                             -- why http is used in place of https
) WITH (fillfactor = 80);
CREATE INDEX hosts_domain ON messor.hosts (domain_id);
CREATE TRIGGER hosts_pages AFTER DELETE ON messor.hosts
  REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION messor.pages_go_with_hosts();

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
  fetched_at timestamptz NOT NULL DEFAULT messor.clock(),
  signals jsonb,                               -- Content-Signal lines
  redirected_to text,
  scheme text CHECK (scheme IN ('https', 'http'))
);
CREATE INDEX robots_files_host ON messor.robots_files (host_id, id DESC);

-- A robots.txt that is found elsewhere: the host waits for what that page says.
CREATE TABLE messor.robots_redirects (
  host_id bigint PRIMARY KEY REFERENCES messor.hosts ON DELETE CASCADE,
  page_id bigint NOT NULL,                     -- the robots task that will answer for it
  hops smallint NOT NULL,
  schemes text[] NOT NULL DEFAULT '{https,http}'
);
CREATE INDEX robots_redirects_page ON messor.robots_redirects (page_id);

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
  claimed_at timestamptz,
  slow boolean NOT NULL DEFAULT false,         -- its host takes long; few of these at a time
  mode_delay real,                             -- of the ingestion that is under way
  mode_until timestamptz,
  assisted_until timestamptz,                  -- a reviewer asked for pages in spite of the risk
  -- The token of a visit that must end, because its tasks are not what it loaded.
  recall bigint,
  -- True while a pre-flight of its host is wanted: the one reason to visit a domain that is pending.
  preflight boolean NOT NULL DEFAULT false,
  -- The clock when ready_at was set: if it proves to have been wrong, the intended wait is still known.
  paced_at timestamptz DEFAULT messor.clock()
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX lanes_claim ON messor.lanes (claim_at) WHERE worker_id IS NULL AND claim_at IS NOT NULL;
CREATE INDEX lanes_held_domain ON messor.lanes (domain_id) WHERE worker_id IS NOT NULL;
CREATE INDEX lanes_held_address ON messor.lanes (address) WHERE worker_id IS NOT NULL;
CREATE INDEX lanes_held_worker ON messor.lanes (worker_id) WHERE worker_id IS NOT NULL;
CREATE TRIGGER stamp_pace BEFORE UPDATE OF ready_at ON messor.lanes FOR EACH ROW
  WHEN (NEW.ready_at IS DISTINCT FROM OLD.ready_at) EXECUTE FUNCTION messor.stamp_pace();

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

-- While one of these is not lifted, no worker sends a request to a site.
CREATE TABLE messor.traffic_halts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  halted_at timestamptz NOT NULL DEFAULT messor.clock(),
  halted_by text NOT NULL,
  reason text NOT NULL CHECK (reason <> ''),
  lifted_at timestamptz,
  lifted_by text,
  CHECK ((lifted_at IS NULL) = (lifted_by IS NULL))
);
-- At most one is in force, and looking for it costs nothing.
CREATE UNIQUE INDEX traffic_halts_in_force ON messor.traffic_halts ((true)) WHERE lifted_at IS NULL;

-- The clock as running processes saw it: one row.
CREATE TABLE messor.clock_watch (
  id boolean PRIMARY KEY DEFAULT true CHECK (id),
  seen_at timestamptz NOT NULL,                -- the latest reading
  ahead_from timestamptz                       -- the first one after its last step forward
) WITH (fillfactor = 50);

CREATE VIEW messor.domain_risk AS
SELECT h.host AS hostname, round(messor.risk_at(h.risk_score, h.risk_at, messor.clock()))::int AS risk_score,
       coalesce((SELECT jsonb_agg(jsonb_build_object('at', f.occurred_at, 'signal', f.signal,
                                                     'points', f.points, 'score', f.score)
                                  ORDER BY f.occurred_at)
                   FROM (SELECT * FROM messor.friction_log f WHERE f.host_id = h.id
                          ORDER BY f.occurred_at DESC LIMIT 50) f), '[]') AS friction_events,
       h.last_request_at AS last_fetch_at, h.created_at, h.updated_at FROM messor.hosts h;
