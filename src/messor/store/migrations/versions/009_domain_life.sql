-- Migration 009: the life of a domain: submissions, review, processing, erasure.

-- Registry -------------------------------------------------------------------------------------

ALTER TABLE messor.domains
  ADD review_reason text,                      -- why a reviewer should look again; NULL: no reason
  ADD discovery_session_id uuid,               -- the session that found it first
  ADD last_processed_at timestamptz,
  ADD processing_count integer NOT NULL DEFAULT 0 CHECK (processing_count >= 0),
  ADD best_confidence_score double precision CHECK (best_confidence_score BETWEEN 0 AND 1),
  ADD high_quality_candidate_count integer NOT NULL DEFAULT 0 CHECK (high_quality_candidate_count >= 0),
  ADD low_quality_candidate_count integer NOT NULL DEFAULT 0 CHECK (low_quality_candidate_count >= 0),
  ADD no_funds_year integer CHECK (no_funds_year BETWEEN 2020 AND 2100),
  ADD failure_reason text,
  ADD failure_count integer NOT NULL DEFAULT 0 CHECK (failure_count >= 0),  -- in a row
  ADD retry_after timestamptz,
  -- Rows that are there already were understood by the same rules; only new ones are checked.
  ADD CONSTRAINT domains_name CHECK (length(domain) BETWEEN 3 AND 253 AND domain ~ '^[^./:@?#\s]+(\.[^./:@?#\s]+)+$') NOT VALID,
  ADD CONSTRAINT domains_reason CHECK (status NOT IN ('rejected', 'blacklisted') OR btrim(rejection_reason, E' \t\r\n') <> ''),
  ADD CONSTRAINT domains_trust CHECK (NOT is_trusted_domain OR status IN ('approved', 'suspended')),
  ADD CONSTRAINT domains_failed CHECK (processing <> 'processing_failed' OR (
    btrim(coalesce(failure_reason, ''), E' \t\r\n') <> '' AND retry_after IS NOT NULL AND failure_count > 0)),
  ADD CONSTRAINT domains_no_funds CHECK (processing <> 'no_funds_this_year' OR no_funds_year IS NOT NULL),
  ADD CONSTRAINT domains_high CHECK (processing <> 'processed_high_quality' OR high_quality_candidate_count > 0),
  ADD CONSTRAINT domains_low CHECK (processing <> 'processed_low_quality' OR (
    low_quality_candidate_count >= 3 AND high_quality_candidate_count = 0));

CREATE INDEX domains_waiting ON messor.domains (created_at, id)
  WHERE status = 'pending_review' OR review_reason IS NOT NULL;
CREATE INDEX idx_domain_status ON messor.domains (processing);
CREATE INDEX idx_domain_discovered_at ON messor.domains (created_at);
CREATE INDEX idx_domain_last_processed ON messor.domains (last_processed_at);
CREATE INDEX idx_domain_retry ON messor.domains (processing, retry_after) WHERE processing = 'processing_failed';
CREATE INDEX domains_first_label ON messor.domains (split_part(domain, '.', 1));

-- Blacklisted is for ever, whoever writes to the table.
CREATE FUNCTION messor.keep_blacklisted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is blacklisted: that is for ever', OLD.domain USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER domains_blacklisted BEFORE UPDATE OF status, processing ON messor.domains FOR EACH ROW
  WHEN (OLD.status = 'blacklisted' AND (NEW.status <> OLD.status OR NEW.processing <> OLD.processing))
  EXECUTE FUNCTION messor.keep_blacklisted();

-- Every time somebody asked for a domain, the first included.
CREATE TABLE messor.domain_submissions (
  id uuid PRIMARY KEY,
  domain_id uuid NOT NULL REFERENCES messor.domains ON DELETE CASCADE,
  submitted_by text NOT NULL,
  submitter_type text NOT NULL CHECK (submitter_type IN ('admin', 'public_user', 'system')),
  contact text CHECK (length(contact) <= 320), -- where a notice may be sent; never in an event
  context text,
  max_crawl_depth smallint NOT NULL CHECK (max_crawl_depth BETWEEN 0 AND 100),
  created_at timestamptz NOT NULL DEFAULT messor.clock()
);
CREATE INDEX domain_submissions_domain ON messor.domain_submissions (domain_id, created_at);

-- URLs that wait for a decision about their domain; taken when it is approved.
CREATE TABLE messor.submitted_urls (
  domain_id uuid NOT NULL REFERENCES messor.domains ON DELETE CASCADE,
  url_hash bytea NOT NULL,
  url text COLLATE "C" NOT NULL,
  submitted_by text NOT NULL,
  submitter_type text NOT NULL CHECK (submitter_type IN ('admin', 'public_user', 'system')),
  submitted_at timestamptz NOT NULL DEFAULT messor.clock(),
  taken_at timestamptz,
  PRIMARY KEY (domain_id, url_hash)
);
CREATE INDEX submitted_urls_waiting ON messor.submitted_urls (domain_id, submitted_at) WHERE taken_at IS NULL;

CREATE TABLE messor.domain_notes (
  id uuid PRIMARY KEY,
  domain_id uuid NOT NULL REFERENCES messor.domains ON DELETE CASCADE,
  author text NOT NULL,
  body text NOT NULL CHECK (btrim(body, E' \t\r\n') <> '' AND length(body) <= 10000),
  created_at timestamptz NOT NULL DEFAULT messor.clock()
);
CREATE INDEX domain_notes_domain ON messor.domain_notes (domain_id, created_at);

-- A look at a domain before anybody decides: three requests at most.
CREATE TABLE messor.preflights (
  id uuid PRIMARY KEY,
  domain_id uuid NOT NULL REFERENCES messor.domains ON DELETE CASCADE,
  page_id bigint,                              -- its crawl task; NULL when none was needed
  requested_by text NOT NULL,
  requested_at timestamptz NOT NULL DEFAULT messor.clock(),
  finished_at timestamptz,
  requests smallint NOT NULL DEFAULT 0 CHECK (requests BETWEEN 0 AND 3),
  report jsonb,
  CHECK ((finished_at IS NULL) = (report IS NULL))
);
CREATE INDEX preflights_domain ON messor.preflights (domain_id, requested_at DESC);
CREATE UNIQUE INDEX preflights_open ON messor.preflights (domain_id) WHERE finished_at IS NULL;

-- True while a pre-flight of its host is wanted: the one reason to visit a domain that is pending.
ALTER TABLE messor.lanes ADD preflight boolean NOT NULL DEFAULT false;

-- Whether a lane may be held: of an approved domain, or of a pending one for its pre-flight.
CREATE FUNCTION messor.may_visit(status text, active boolean, preflight boolean) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT active AND (status = 'approved' OR (status = 'pending_review' AND preflight))
$$;

-- What was decided needs no first look: a pre-flight under way ends with the decision.
CREATE FUNCTION messor.end_preflights() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE messor.lanes SET preflight = false WHERE domain_id = NEW.id AND preflight;
  UPDATE messor.crawl_tasks t SET due_at = NULL, status = 'cancelled' FROM messor.preflights p
   WHERE p.domain_id = NEW.id AND p.finished_at IS NULL AND t.page_id = p.page_id;
  DELETE FROM messor.preflights WHERE domain_id = NEW.id AND finished_at IS NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER domains_preflights AFTER UPDATE OF status ON messor.domains FOR EACH ROW
  WHEN (OLD.status = 'pending_review' AND NEW.status <> 'pending_review')
  EXECUTE FUNCTION messor.end_preflights();

CREATE INDEX events_domain ON messor.events (domain_id, occurred_at DESC);

-- Erasure --------------------------------------------------------------------------------------

-- Of a person the list holds a hash: it must not itself be what it forbids to keep.
ALTER TABLE messor.erasures DROP CONSTRAINT erasures_kind_check,
  ADD CONSTRAINT erasures_kind_check CHECK (kind IN ('domain', 'url', 'person'));

-- How the list names a person.
CREATE FUNCTION messor.person_key(who text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT encode(sha256(convert_to(lower(btrim(who)), 'UTF8')), 'hex')
$$;

-- Pages whose traces are gone. A visit that held one may still bring it: it is forgotten again.
CREATE TABLE messor.forgotten_pages (
  page_id bigint PRIMARY KEY,
  logs boolean NOT NULL,                       -- what was logged of it, too
  forgotten_at timestamptz NOT NULL DEFAULT messor.clock()
);

-- Records of a segment whose bytes must go; blanked when their writer is gone.
CREATE TABLE messor.blanks (
  segment_id bigint NOT NULL,
  segment_offset bigint NOT NULL,
  segment_length integer NOT NULL,
  asked_at timestamptz NOT NULL DEFAULT messor.clock(),
  blanked_at timestamptz,
  PRIMARY KEY (segment_id, segment_offset)
);
CREATE INDEX blanks_open ON messor.blanks (segment_id) WHERE blanked_at IS NULL;

-- Forgets pages in every table that names them or their snapshots, tables of later migrations
-- included; in the logs only when asked to. Answers how many rows went.
CREATE FUNCTION messor.forget_pages(ids bigint[], logs boolean) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  place record;
  snapshots bigint[];
  gone bigint := 0;
  rows bigint;
BEGIN
  SELECT coalesce(array_agg(id), '{}') INTO snapshots FROM messor.page_snapshots WHERE page_id = ANY (ids);
  INSERT INTO messor.blanks (segment_id, segment_offset, segment_length)
  SELECT DISTINCT segment_id, segment_offset, segment_length FROM messor.page_snapshots
   WHERE id = ANY (snapshots) ORDER BY 1, 2 ON CONFLICT DO NOTHING;
  INSERT INTO messor.forgotten_pages (page_id, logs) SELECT DISTINCT i, logs FROM unnest(ids) i ORDER BY 1
  ON CONFLICT (page_id) DO UPDATE SET logs = messor.forgotten_pages.logs OR excluded.logs;
  FOR place IN
    SELECT c.relname, a.attname FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'messor'
      JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
       AND a.attname IN ('snapshot_id', 'page_snapshot_id', 'page_id') AND a.atttypid = 'bigint'::regtype
     WHERE NOT c.relispartition AND (c.relkind = 'r' OR (c.relkind = 'p' AND logs))
       AND c.relname NOT IN ('forgotten_pages', 'crawl_tasks')
     -- What hangs on a snapshot before the snapshots themselves.
     ORDER BY c.relname = 'page_snapshots', a.attname DESC, c.relname
  LOOP
    EXECUTE format('DELETE FROM messor.%I WHERE %I = ANY ($1)', place.relname, place.attname)
      USING CASE WHEN place.attname = 'page_id' THEN ids ELSE snapshots END;
    GET DIAGNOSTICS rows = ROW_COUNT;
    gone := gone + rows;
  END LOOP;
  WITH left_by AS (
    DELETE FROM messor.pages WHERE id = ANY (ids) RETURNING host_id  -- its task goes with it
  )
  UPDATE messor.domains d SET pages_known = greatest(d.pages_known - l.pages, 0)
    FROM (SELECT h.domain_id, count(*) AS pages FROM left_by JOIN messor.hosts h ON h.id = left_by.host_id
           GROUP BY 1) l
   WHERE d.id = l.domain_id;
  RETURN gone;
END $$;

-- The specifications' names, as views ----------------------------------------------------------

CREATE VIEW messor.domain AS
SELECT id AS domain_id, domain AS domain_name,
       CASE WHEN status = 'blacklisted' THEN 'BLACKLISTED' ELSE upper(processing) END AS status,
       created_at AS discovered_at, discovery_session_id, last_processed_at, processing_count,
       best_confidence_score, high_quality_candidate_count, low_quality_candidate_count,
       CASE WHEN status = 'blacklisted' THEN reviewed_by END AS blacklisted_by,
       CASE WHEN status = 'blacklisted' THEN reviewed_at END AS blacklisted_at,
       CASE WHEN status = 'blacklisted' THEN rejection_reason END AS blacklist_reason,
       no_funds_year,
       (SELECT string_agg(n.body, E'\n' ORDER BY n.created_at) FROM messor.domain_notes n
         WHERE n.domain_id = d.id) AS notes,
       failure_reason, failure_count, retry_after
  FROM messor.domains d;
