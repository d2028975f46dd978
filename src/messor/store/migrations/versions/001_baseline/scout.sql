-- Keywords, searches, result pages, discovery sessions and candidates.

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
CREATE INDEX search_answers_waiting ON messor.search_answers (received_at) WHERE processed_at IS NULL;

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
CREATE INDEX discovery_sessions_vertical ON messor.discovery_sessions (vertical_id, started_at DESC);

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
  -- The session that judged a page's results; NULL while nobody has.
  judged_in uuid REFERENCES messor.discovery_sessions ON DELETE SET NULL,
  UNIQUE (keyword_id, serp_profile_id, captured_at),
  CHECK (outcome <> 'failed' OR (result_count = 0 AND btrim(coalesce(said, '')) <> ''))
);
CREATE INDEX serp_snapshots_captured ON messor.serp_snapshots (captured_at) WHERE outcome <> 'failed';
CREATE INDEX serp_snapshots_unjudged ON messor.serp_snapshots (captured_at)
  WHERE judged_in IS NULL AND outcome <> 'failed';
CREATE INDEX serp_snapshots_judged ON messor.serp_snapshots (judged_in) WHERE judged_in IS NOT NULL;
CREATE INDEX serp_snapshots_keyword ON messor.serp_snapshots (keyword_id, captured_at DESC);

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
  -- Whether a result is the best place of its domain on its page, among organic and local ones.
  is_best boolean NOT NULL DEFAULT true,
  UNIQUE (snapshot_id, rank_position, block_type)
);
CREATE INDEX serp_results_domain ON messor.serp_results (domain, block_type);
CREATE INDEX serp_results_domain_id ON messor.serp_results (domain_id) WHERE domain_id IS NOT NULL;

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
  page_id bigint,                              -- where it is crawled; a page may be forgotten
  submitted_at timestamptz,                    -- when its crawl was asked for last
  crawled_at timestamptz,                      -- when its page was harvested and extracted
  crawl_note text,                             -- what stood in the way of its crawl last
  crawl_failures integer NOT NULL DEFAULT 0 CHECK (crawl_failures >= 0),
  retry_after timestamptz,                     -- when its crawl is asked for again
  UNIQUE (session_id, url_hash),
  -- Only what reached the threshold is ever crawled, and so reviewed.
  CONSTRAINT candidates_threshold CHECK ((status = 'SKIPPED_LOW_CONFIDENCE') = (confidence_score < 0.6)),
  CONSTRAINT candidates_assigned CHECK (status <> 'IN_REVIEW' OR assigned_to IS NOT NULL),
  CONSTRAINT candidates_reviewed CHECK ((status IN ('APPROVED', 'REJECTED')) = (reviewed_at IS NOT NULL)),
  CONSTRAINT candidates_rejected CHECK (status <> 'REJECTED' OR btrim(coalesce(review_reason, '')) <> ''),
  CONSTRAINT candidates_note CHECK (retry_after IS NULL OR btrim(coalesce(crawl_note, '')) <> '')
);
CREATE INDEX candidates_status ON messor.candidates (status, created_at, id);
CREATE INDEX candidates_domain ON messor.candidates (domain_id, vertical_id);
CREATE INDEX candidates_vertical ON messor.candidates (vertical_id, status);
CREATE INDEX candidates_url ON messor.candidates (vertical_id, url_hash);
CREATE INDEX candidates_crawling ON messor.candidates (submitted_at)
  WHERE status = 'PENDING_CRAWL' AND page_id IS NOT NULL;
CREATE INDEX candidates_name ON messor.candidates (domain, vertical_id);
CREATE INDEX candidates_trusted ON messor.candidates (status, confidence_score DESC, id);
CREATE TRIGGER candidates_steps BEFORE UPDATE OF status ON messor.candidates FOR EACH ROW
  WHEN (OLD.status <> NEW.status AND (OLD.status, NEW.status) NOT IN (
    ('PENDING_CRAWL', 'PENDING_REVIEW'), ('PENDING_REVIEW', 'IN_REVIEW'),
    ('IN_REVIEW', 'APPROVED'), ('IN_REVIEW', 'REJECTED')))
  EXECUTE FUNCTION messor.keep_candidate_steps();

-- One row per judge and candidate, to set judges against reviewers.
CREATE TABLE messor.judgements (
  candidate_id uuid NOT NULL REFERENCES messor.candidates ON DELETE CASCADE,
  judge text COLLATE "C" NOT NULL,
  score double precision NOT NULL CHECK (score BETWEEN 0 AND 1),
  weight double precision NOT NULL DEFAULT 1 CHECK (weight >= 0),
  explanation text NOT NULL,
  PRIMARY KEY (candidate_id, judge)
);

-- The whole answer behind a snapshot; `json`, since jsonb cannot hold every string that JSON can.
CREATE VIEW messor.serp_snapshots_raw AS
SELECT s.id AS snapshot_id, s.keyword_id, s.serp_profile_id, s.captured_at, a.raw_hash,
       CASE WHEN a.is_json THEN convert_from(a.body, 'UTF8')::json END AS raw_json
  FROM messor.serp_snapshots s JOIN messor.search_answers a ON a.request_id = s.request_id;

-- What a crawled candidate is reviewed by: the records of its own page, and who stands behind its
-- domain and how to reach them, wherever the domain says so.
CREATE VIEW messor.candidate_records AS
SELECT c.id AS candidate_id, r.id AS record_id, r.kind, r.confidence, r.page_id, true AS on_page, r.data
  FROM messor.candidates c JOIN messor.verticals v ON v.id = c.vertical_id
  JOIN messor.records r ON r.page_id = c.page_id AND r.state = 'current'
 WHERE c.crawled_at IS NOT NULL
   AND (r.kind IN ('organisation', 'contact') OR v.definition -> 'record_kinds' ? r.kind)
 UNION ALL
SELECT c.id, r.id, r.kind, r.confidence, r.page_id, false, r.data
  FROM messor.candidates c
  JOIN messor.records r ON r.domain_id = c.domain_id AND r.state = 'current'
   AND r.kind IN ('organisation', 'contact') AND r.page_id <> c.page_id
 WHERE c.crawled_at IS NOT NULL;

CREATE VIEW messor.funding_source_candidate AS
SELECT c.*, c.id AS candidate_id FROM messor.candidates c;

CREATE VIEW messor.contact_intelligence AS
SELECT candidate_id, record_id, confidence, page_id, on_page, data
  FROM messor.candidate_records WHERE kind = 'contact';

ALTER TABLE messor.domains ADD CONSTRAINT domains_discovery_session
  FOREIGN KEY (discovery_session_id) REFERENCES messor.discovery_sessions ON DELETE SET NULL;
