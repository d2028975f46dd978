-- The log of requests, its roll-ups, providers and proxies.

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
  error_json jsonb,
  delay_ms integer,                            -- the pause that was due before this request
  proxy_id integer,
  detail jsonb                                 -- friction signals, what a render asked for
) PARTITION BY RANGE (fetched_at);
CREATE INDEX idx_fetches_page ON messor.http_fetches (page_id, fetched_at DESC);
-- Rows come in the order of their time: a few kilobytes of index find any hour in them.
CREATE INDEX http_fetches_time ON messor.http_fetches USING brin (fetched_at)
  WITH (autosummarize = on);
-- The requests of a domain, the newest first, without a look at each of its pages.
CREATE INDEX http_fetches_host ON messor.http_fetches (host_id, fetched_at DESC);
SELECT messor.make_partitions('http_fetches');

-- Requests as charts show them. Rolled up off the path, a few minutes after the fact; what is newer
-- than `rolled_until` is counted in the log.
CREATE TABLE messor.fetch_minutes (
  minute timestamptz NOT NULL,
  outcome text COLLATE "C" NOT NULL,
  fetches integer NOT NULL,
  PRIMARY KEY (minute, outcome)
);

CREATE TABLE messor.fetch_days (
  day date NOT NULL,
  host_id bigint NOT NULL,
  outcome text COLLATE "C" NOT NULL,
  fetches integer NOT NULL,
  PRIMARY KEY (day, host_id, outcome)          -- old days go first
) WITH (fillfactor = 80);

CREATE TABLE messor.fetch_rollup (
  is_the_one boolean PRIMARY KEY DEFAULT true CHECK (is_the_one),
  rolled_until timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 50);
INSERT INTO messor.fetch_rollup DEFAULT VALUES;

CREATE TABLE messor.provider_usage (
  provider text COLLATE "C" NOT NULL,
  month date NOT NULL,
  requests bigint NOT NULL DEFAULT 0,
  cost numeric NOT NULL DEFAULT 0,
  PRIMARY KEY (provider, month)
);

-- A service that answers 429 counts all workers together: until when none of them asks it again,
-- and how often the wait was doubled because it did not say for how long.
CREATE TABLE messor.provider_holds (
  provider   text PRIMARY KEY,
  held_until timestamptz NOT NULL,
  doublings  integer NOT NULL,
  reason     text NOT NULL,
  -- The clock when the hold was set: if it proves to have been wrong, the intended wait is still known.
  set_at timestamptz DEFAULT messor.clock()
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
  -- A proxy that the operator added on the command line may have a private address; one that came in
  -- by the API or the console may not.
  trusted boolean NOT NULL DEFAULT false,
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
