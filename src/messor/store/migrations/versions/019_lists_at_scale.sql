-- Migration 019: lists that answer at once over millions of rows.

-- The requests of a domain, the newest first, without a look at each of its pages.
CREATE INDEX http_fetches_host ON messor.http_fetches (host_id, fetched_at DESC);

-- A host's pages are found in their index alone: eight bytes more, no further index to keep.
ALTER TABLE messor.pages DROP CONSTRAINT pages_host_id_url_hash_key,
  ADD CONSTRAINT pages_host_id_url_hash_key UNIQUE (host_id, url_hash) INCLUDE (id);

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
  PRIMARY KEY (day, host_id, outcome)           -- old days go first
) WITH (fillfactor = 80);
CREATE TABLE messor.fetch_rollup (
  is_the_one boolean PRIMARY KEY DEFAULT true CHECK (is_the_one),
  rolled_until timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 50);
INSERT INTO messor.fetch_rollup DEFAULT VALUES;

-- Dead letters, the newest first.
CREATE INDEX jobs_died ON messor.jobs (finished_at DESC, id DESC) WHERE state = 'dead';

-- Whoever shows events hears of new ones when they are committed. The notice says nothing: each
-- listener reads what it may see.
CREATE FUNCTION messor.tell_of_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NOTIFY messor_events;
  RETURN NULL;
END $$;
CREATE TRIGGER events_told AFTER INSERT ON messor.events
  FOR EACH STATEMENT EXECUTE FUNCTION messor.tell_of_events();

-- Records and products in the orders that people list them in.
CREATE INDEX records_of_kind ON messor.records (kind, id);
CREATE INDEX records_of_domain ON messor.records (domain_id, id);
CREATE INDEX idx_products_rating ON messor.products (rating);
CREATE INDEX idx_products_updated_at ON messor.products (updated_at);
CREATE INDEX idx_products_domain_newest ON messor.products (domain_id, created_at, id);

-- Candidates by trust, and the result pages of one keyword.
CREATE INDEX candidates_trusted ON messor.candidates (status, confidence_score DESC, id);
CREATE INDEX serp_snapshots_keyword ON messor.serp_snapshots (keyword_id, captured_at DESC);
