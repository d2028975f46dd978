-- Migration 013: verticals and organisations; keywords and result pages; discovery by search.

-- Verticals --------------------------------------------------------------------------------------

-- A vertical as it was last applied. `definition` is the validated file, `source` the file itself.
CREATE TABLE messor.verticals (
  id uuid PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE CHECK (name ~ '^[a-z][a-z0-9_]{0,62}$'),
  title text NOT NULL CHECK (btrim(title) <> ''),
  version integer NOT NULL CHECK (version > 0),
  on_block text NOT NULL DEFAULT 'respect' CHECK (on_block IN ('respect', 'failover')),
  definition jsonb NOT NULL,
  source text NOT NULL,
  source_hash bytea NOT NULL CHECK (length(source_hash) = 32),
  applied_by text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT messor.clock(),
  created_at timestamptz NOT NULL DEFAULT messor.clock()
);

-- Every file that was ever in force; a version stands for one content.
CREATE TABLE messor.vertical_versions (
  vertical_id uuid NOT NULL REFERENCES messor.verticals ON DELETE CASCADE,
  version integer NOT NULL CHECK (version > 0),
  source text NOT NULL,
  source_hash bytea NOT NULL CHECK (length(source_hash) = 32),
  applied_by text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT messor.clock(),
  PRIMARY KEY (vertical_id, version)
);

CREATE TABLE messor.vertical_services (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  vertical_id uuid NOT NULL REFERENCES messor.verticals ON DELETE CASCADE,
  service_name text NOT NULL CHECK (btrim(service_name) <> ''),
  synonyms text[] NOT NULL DEFAULT '{}',
  intent text NOT NULL DEFAULT 'commercial' CHECK (
    intent IN ('commercial', 'informational', 'navigational', 'transactional')),
  active boolean NOT NULL DEFAULT true,        -- false once the file no longer names it
  UNIQUE (vertical_id, service_name)
);

CREATE TABLE messor.serp_profiles (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  vertical_id uuid NOT NULL REFERENCES messor.verticals ON DELETE CASCADE,
  name text NOT NULL CHECK (btrim(name) <> ''),
  gl text NOT NULL DEFAULT 'sg' CHECK (gl ~ '^[a-z]{2}$'),
  hl text NOT NULL DEFAULT 'en' CHECK (hl ~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$'),
  device text NOT NULL DEFAULT 'desktop' CHECK (device IN ('desktop', 'mobile', 'tablet')),
  location text NOT NULL DEFAULT 'Singapore',
  uule text,
  active boolean NOT NULL DEFAULT true,
  UNIQUE (vertical_id, name)
);

CREATE TABLE messor.geo_sets (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  vertical_id uuid NOT NULL REFERENCES messor.verticals ON DELETE CASCADE,
  name text NOT NULL UNIQUE,                   -- "vertical.set", so that verticals never share one
  modifiers text[] NOT NULL CHECK (cardinality(modifiers) > 0),
  priority_order integer NOT NULL DEFAULT 0
);
CREATE INDEX geo_sets_vertical ON messor.geo_sets (vertical_id);

CREATE TABLE messor.keyword_templates (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  vertical_id uuid NOT NULL REFERENCES messor.verticals ON DELETE CASCADE,
  template text NOT NULL CHECK (template LIKE '%{service}%'),
  geo_set_id uuid REFERENCES messor.geo_sets ON DELETE CASCADE,
  language text NOT NULL DEFAULT 'en'
);
CREATE INDEX keyword_templates_vertical ON messor.keyword_templates (vertical_id);
CREATE INDEX keyword_templates_geo_set ON messor.keyword_templates (geo_set_id);

-- Organisations: a clinic, a shop, a funder. -------------------------------------------------------

CREATE TABLE messor.organisations (
  id uuid PRIMARY KEY,
  vertical_id uuid NOT NULL REFERENCES messor.verticals ON DELETE CASCADE,
  name text NOT NULL CHECK (btrim(name) <> '' AND length(name) <= 300),
  name_key text COLLATE "C" NOT NULL,          -- the name as it is compared
  location text CHECK (length(location) <= 300),
  external_id text CHECK (length(external_id) <= 200),
  created_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  updated_at timestamptz NOT NULL DEFAULT messor.clock(),
  UNIQUE (vertical_id, name_key)
);

-- Within a vertical a domain has one owner. It need not be in the registry yet.
CREATE TABLE messor.organisation_domains (
  vertical_id uuid NOT NULL REFERENCES messor.verticals ON DELETE CASCADE,
  domain text COLLATE "C" NOT NULL CHECK (domain <> '' AND domain = lower(domain)),
  organisation_id uuid NOT NULL REFERENCES messor.organisations ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  PRIMARY KEY (vertical_id, domain)
);
CREATE INDEX organisation_domains_organisation ON messor.organisation_domains (organisation_id);

-- Keywords -----------------------------------------------------------------------------------------

CREATE TABLE messor.keywords (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  keyword_text text COLLATE "C" NOT NULL CHECK (btrim(keyword_text) <> '' AND length(keyword_text) <= 200),
  serp_profile_id uuid NOT NULL REFERENCES messor.serp_profiles ON DELETE CASCADE,
  vertical_id uuid NOT NULL REFERENCES messor.verticals ON DELETE CASCADE,
  tier text NOT NULL DEFAULT 'C' CHECK (tier IN ('A', 'B', 'C')),
  tier_reason text,
  source text NOT NULL DEFAULT 'manual' CHECK (
    source IN ('manual', 'template', 'related', 'people_also_ask', 'suggestion')),
  service_name text,
  seed_keyword_id uuid REFERENCES messor.keywords ON DELETE SET NULL,
  seed_depth smallint NOT NULL DEFAULT 0 CHECK (seed_depth BETWEEN 0 AND 10),
  value double precision CHECK (value >= 0),   -- measured; NULL: not measured
  active boolean NOT NULL DEFAULT true,
  pruned_reason text,
  last_snapshot_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  UNIQUE (keyword_text, serp_profile_id),
  CHECK (seed_keyword_id IS NULL OR seed_keyword_id <> id),
  CHECK (active OR pruned_reason IS NOT NULL)
);
CREATE INDEX keywords_due ON messor.keywords (vertical_id, tier, last_snapshot_at NULLS FIRST) WHERE active;
CREATE INDEX keywords_profile ON messor.keywords (serp_profile_id);
CREATE INDEX keywords_seed ON messor.keywords (seed_keyword_id) WHERE seed_keyword_id IS NOT NULL;

-- Searches -----------------------------------------------------------------------------------------

-- The reservation: one row per keyword, profile, window and page, there before anybody is asked.
-- open: nobody is being asked; asking: sent and not heard yet; a gap: no answer in this window.
CREATE TABLE messor.search_requests (
  id uuid PRIMARY KEY,
  keyword_id uuid NOT NULL REFERENCES messor.keywords ON DELETE CASCADE,
  serp_profile_id uuid NOT NULL REFERENCES messor.serp_profiles ON DELETE CASCADE,
  window_key text COLLATE "C" NOT NULL CHECK (window_key <> ''),
  page smallint NOT NULL DEFAULT 1 CHECK (page BETWEEN 1 AND 100),
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'asking', 'answered', 'gap')),
  said text,                                   -- why it is a gap, or why it is still open
  held_by uuid,                                -- the holding that may change it
  held_until timestamptz NOT NULL DEFAULT '-infinity',
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  finished_at timestamptz,
  UNIQUE (keyword_id, serp_profile_id, window_key, page),
  CHECK (state <> 'gap' OR btrim(coalesce(said, '')) <> '')
);
CREATE INDEX search_requests_open ON messor.search_requests (held_until) WHERE state IN ('open', 'asking');

-- What was spent: one row per time that an engine was asked, written before it is.
CREATE TABLE messor.search_spend (
  id uuid PRIMARY KEY,
  request_id uuid NOT NULL REFERENCES messor.search_requests ON DELETE CASCADE,
  engine text COLLATE "C" NOT NULL,
  month date NOT NULL,
  state text NOT NULL DEFAULT 'asked' CHECK (state IN ('asked', 'answered', 'refused', 'lost')),
  cost numeric NOT NULL CHECK (cost >= 0),     -- set aside at first, then what it was
  said text,
  asked_at timestamptz NOT NULL DEFAULT messor.clock(),
  settled_at timestamptz,
  CHECK (state <> 'refused' OR cost = 0)
);
CREATE INDEX search_spend_request ON messor.search_spend (request_id);
CREATE INDEX search_spend_engine ON messor.search_spend (engine, asked_at);
-- Only one answer or one loss that may have been paid for, whatever the program does.
CREATE UNIQUE INDEX search_spend_once ON messor.search_spend (request_id)
  WHERE cost > 0 AND state IN ('asked', 'answered', 'lost');

-- Answers, whole and as they came; stored before anybody looks into them.
CREATE TABLE messor.search_answers (
  request_id uuid PRIMARY KEY REFERENCES messor.search_requests ON DELETE CASCADE,
  engine text COLLATE "C" NOT NULL,
  status smallint NOT NULL,
  body bytea NOT NULL,
  raw_hash bytea NOT NULL CHECK (length(raw_hash) = 32),
  is_json boolean NOT NULL,
  received_at timestamptz NOT NULL DEFAULT messor.clock(),
  processed_at timestamptz,
  CHECK (raw_hash = sha256(body))
);
ALTER TABLE messor.search_answers ALTER body SET STORAGE EXTENDED;
CREATE INDEX search_answers_waiting ON messor.search_answers (received_at) WHERE processed_at IS NULL;

-- Result pages -------------------------------------------------------------------------------------

-- A failed snapshot is a gap: it says why, and has no results.
CREATE TABLE messor.serp_snapshots (
  id uuid PRIMARY KEY,
  keyword_id uuid NOT NULL REFERENCES messor.keywords ON DELETE CASCADE,
  serp_profile_id uuid NOT NULL REFERENCES messor.serp_profiles ON DELETE CASCADE,
  request_id uuid NOT NULL UNIQUE REFERENCES messor.search_requests ON DELETE CASCADE,
  window_key text COLLATE "C" NOT NULL,
  engine text COLLATE "C" NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('ok', 'partial', 'failed')),
  said text,                                   -- what is missing, or why it failed
  raw_hash bytea,
  result_count integer NOT NULL DEFAULT 0 CHECK (result_count >= 0),
  extras jsonb NOT NULL DEFAULT '{}',          -- questions, related searches, an overview
  captured_at timestamptz NOT NULL DEFAULT messor.clock(),
  UNIQUE (keyword_id, serp_profile_id, captured_at),
  CHECK (outcome <> 'failed' OR (result_count = 0 AND btrim(coalesce(said, '')) <> ''))
);
CREATE INDEX serp_snapshots_captured ON messor.serp_snapshots (captured_at) WHERE outcome <> 'failed';

-- `domain` is that of the URL, whether or not the registry knows it.
CREATE TABLE messor.serp_results (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  snapshot_id uuid NOT NULL REFERENCES messor.serp_snapshots ON DELETE CASCADE,
  rank_position integer NOT NULL CHECK (rank_position > 0),
  block_type text NOT NULL CHECK (block_type IN (
    'organic', 'local_pack', 'featured', 'ad', 'people_also_ask', 'related', 'ai_overview',
    'knowledge', 'news', 'other')),
  domain_id uuid REFERENCES messor.domains ON DELETE SET NULL,
  domain text COLLATE "C",
  url text COLLATE "C",
  title text,
  snippet text,
  published_at timestamptz,
  UNIQUE (snapshot_id, rank_position, block_type)
);
CREATE INDEX serp_results_domain ON messor.serp_results (domain, block_type);
CREATE INDEX serp_results_domain_id ON messor.serp_results (domain_id) WHERE domain_id IS NOT NULL;

-- The whole answer behind a snapshot; `json`, since jsonb cannot hold every string that JSON can.
CREATE VIEW messor.serp_snapshots_raw AS
SELECT s.id AS snapshot_id, s.keyword_id, s.serp_profile_id, s.captured_at, a.raw_hash,
       CASE WHEN a.is_json THEN convert_from(a.body, 'UTF8')::json END AS raw_json
  FROM messor.serp_snapshots s JOIN messor.search_answers a ON a.request_id = s.request_id;

-- Discovery ----------------------------------------------------------------------------------------

CREATE TABLE messor.discovery_sessions (
  id uuid PRIMARY KEY,
  vertical_id uuid NOT NULL REFERENCES messor.verticals ON DELETE CASCADE,
  vertical_version integer NOT NULL CHECK (vertical_version > 0),
  state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'finished', 'failed', 'cancelled')),
  started_by text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT messor.clock(),
  finished_at timestamptz,
  said text,
  statistics jsonb,                            -- when it is over
  CHECK ((state = 'running') = (finished_at IS NULL)),
  CHECK (state <> 'failed' OR btrim(coalesce(said, '')) <> '')
);
-- The session that judged a page's results; NULL while nobody has.
ALTER TABLE messor.serp_snapshots
  ADD judged_in uuid REFERENCES messor.discovery_sessions ON DELETE SET NULL;
CREATE INDEX serp_snapshots_unjudged ON messor.serp_snapshots (captured_at)
  WHERE judged_in IS NULL AND outcome <> 'failed';
CREATE INDEX serp_snapshots_judged ON messor.serp_snapshots (judged_in) WHERE judged_in IS NOT NULL;

CREATE INDEX discovery_sessions_vertical ON messor.discovery_sessions (vertical_id, started_at DESC);

ALTER TABLE messor.domains ADD CONSTRAINT domains_discovery_session
  FOREIGN KEY (discovery_session_id) REFERENCES messor.discovery_sessions ON DELETE SET NULL NOT VALID;
CREATE INDEX domains_session ON messor.domains (discovery_session_id) WHERE discovery_session_id IS NOT NULL;

CREATE TABLE messor.candidates (
  id uuid PRIMARY KEY,
  session_id uuid NOT NULL REFERENCES messor.discovery_sessions ON DELETE CASCADE,
  vertical_id uuid NOT NULL REFERENCES messor.verticals ON DELETE CASCADE,
  domain_id uuid REFERENCES messor.domains ON DELETE SET NULL,
  domain text COLLATE "C" NOT NULL CHECK (domain = lower(domain) AND domain ~ '^[^./:@?#\s]+(\.[^./:@?#\s]+)+$'),
  url text COLLATE "C" NOT NULL,
  url_hash bytea NOT NULL CHECK (length(url_hash) = 32),
  title text NOT NULL DEFAULT '',
  snippet text NOT NULL DEFAULT '',
  search_engine text COLLATE "C" NOT NULL,
  search_query text NOT NULL,
  position integer NOT NULL CHECK (position > 0),
  confidence_score double precision NOT NULL CHECK (confidence_score BETWEEN 0 AND 1),
  status text NOT NULL CHECK (status IN (
    'PENDING_CRAWL', 'PENDING_REVIEW', 'IN_REVIEW', 'APPROVED', 'REJECTED', 'SKIPPED_LOW_CONFIDENCE')),
  organisation_name text,
  program_name text,
  validation_notes jsonb NOT NULL,             -- the judgement, whole
  assigned_to text,
  reviewed_by text,
  reviewed_at timestamptz,
  review_reason text,
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  updated_at timestamptz NOT NULL DEFAULT messor.clock(),
  UNIQUE (session_id, url_hash),
  -- Only what reached the threshold is ever crawled, and so reviewed.
  CONSTRAINT candidates_threshold CHECK ((status = 'SKIPPED_LOW_CONFIDENCE') = (confidence_score < 0.6)),
  CONSTRAINT candidates_assigned CHECK (status <> 'IN_REVIEW' OR assigned_to IS NOT NULL),
  CONSTRAINT candidates_reviewed CHECK ((status IN ('APPROVED', 'REJECTED')) = (reviewed_at IS NOT NULL)),
  CONSTRAINT candidates_rejected CHECK (status <> 'REJECTED' OR btrim(coalesce(review_reason, '')) <> '')
);
CREATE INDEX candidates_status ON messor.candidates (status, created_at, id);
CREATE INDEX candidates_domain ON messor.candidates (domain_id, vertical_id);
CREATE INDEX candidates_vertical ON messor.candidates (vertical_id, status);
CREATE INDEX candidates_url ON messor.candidates (vertical_id, url_hash);

-- One row per judge and candidate, to set judges against reviewers.
CREATE TABLE messor.judgements (
  candidate_id uuid NOT NULL REFERENCES messor.candidates ON DELETE CASCADE,
  judge text COLLATE "C" NOT NULL,
  score double precision NOT NULL CHECK (score BETWEEN 0 AND 1),
  weight double precision NOT NULL DEFAULT 1 CHECK (weight >= 0),
  explanation text NOT NULL,
  PRIMARY KEY (candidate_id, judge)
);

-- The steps of a candidate, whoever writes to the table.
CREATE FUNCTION messor.keep_candidate_steps() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'A candidate that is % cannot become %', OLD.status, NEW.status
    USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER candidates_steps BEFORE UPDATE OF status ON messor.candidates FOR EACH ROW
  WHEN (OLD.status <> NEW.status AND (OLD.status, NEW.status) NOT IN (
    ('PENDING_CRAWL', 'PENDING_REVIEW'), ('PENDING_REVIEW', 'IN_REVIEW'),
    ('IN_REVIEW', 'APPROVED'), ('IN_REVIEW', 'REJECTED')))
  EXECUTE FUNCTION messor.keep_candidate_steps();

-- The specifications' names, as views ----------------------------------------------------------

CREATE VIEW messor.clinics AS
SELECT o.*, v.name AS vertical FROM messor.organisations o JOIN messor.verticals v ON v.id = o.vertical_id
 WHERE v.name = 'wellness';

CREATE VIEW messor.funding_source_candidate AS
SELECT c.*, c.id AS candidate_id FROM messor.candidates c;
