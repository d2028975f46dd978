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

-- As before, but a lane may also be held for the first look at a domain that waits for review.
CREATE OR REPLACE FUNCTION messor.claim_lanes(worker bigint, wanted integer, default_delay real,
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
      JOIN messor.domains d ON d.id = l.domain_id AND messor.may_visit(d.status, d.active, l.preflight)
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
       AND NOT messor.may_visit(d.status, d.active, l.preflight)
  ), logged AS (
    INSERT INTO messor.visits (host_id, token, worker_id, claimed_at)
    SELECT h.host_id, h.token, worker, h.claimed_at FROM held h
  )
  SELECT h.host_id, h.token, h.claimed_at, h.slots, h.delay,
         greatest(extract(epoch FROM h.ready_at - messor.clock()), 0)::float8 FROM held h;
END $$;
