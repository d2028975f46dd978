-- Domains: governance, terms, quality; and what people submitted.

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
  main_host_id bigint,                         -- where its base URL ends after redirects
  harvest text NOT NULL DEFAULT 'site' CHECK (harvest IN ('site', 'asked')),  -- all, or only pages asked for
  on_block text NOT NULL DEFAULT 'respect' CHECK (on_block IN ('respect', 'failover')),
  render text NOT NULL DEFAULT 'auto' CHECK (render IN ('auto', 'never')),  -- other providers than HTTP
  directives text NOT NULL DEFAULT 'respect' CHECK (directives IN ('respect', 'ignore')),  -- noindex, nofollow
  reservations text NOT NULL DEFAULT 'record' CHECK (reservations IN ('record', 'respect')),  -- TDM, Content-Signal
  robots_forbidden text NOT NULL DEFAULT 'allow' CHECK (robots_forbidden IN ('allow', 'deny')),  -- 401, 403
  proxies text NOT NULL DEFAULT 'none' CHECK (proxies IN ('none', 'pool')),
  verify_tls boolean NOT NULL DEFAULT true,
  -- `active` is what claims and flushes look at; it is false while the domain or everything is
  -- paused. Which of the two it was must be known to resume one without the other.
  paused boolean NOT NULL DEFAULT false,
  review_reason text,                          -- why a reviewer should look again; NULL: no reason
  discovery_session_id uuid,                   -- the session that found it first
  last_processed_at timestamptz,
  processing_count integer NOT NULL DEFAULT 0 CHECK (processing_count >= 0),
  best_confidence_score double precision CHECK (best_confidence_score BETWEEN 0 AND 1),
  high_quality_candidate_count integer NOT NULL DEFAULT 0 CHECK (high_quality_candidate_count >= 0),
  low_quality_candidate_count integer NOT NULL DEFAULT 0 CHECK (low_quality_candidate_count >= 0),
  no_funds_year integer CHECK (no_funds_year BETWEEN 2020 AND 2100),
  failure_reason text,
  failure_count integer NOT NULL DEFAULT 0 CHECK (failure_count >= 0),  -- in a row
  retry_after timestamptz,
  -- `on_block` as the domain's verticals last set it; if the two differ, a person set `on_block`.
  vertical_on_block text CHECK (vertical_on_block IN ('respect', 'failover')),
  CHECK (status NOT IN ('rejected', 'blacklisted') OR coalesce(rejection_reason, '') <> ''),
  CHECK (status IN ('pending_review', 'blacklisted') OR reviewed_at IS NOT NULL),
  CONSTRAINT domains_name CHECK (
    length(domain) BETWEEN 3 AND 253 AND domain ~ '^[^./:@?#\s]+(\.[^./:@?#\s]+)+$'),
  CONSTRAINT domains_reason CHECK (
    status NOT IN ('rejected', 'blacklisted') OR btrim(rejection_reason, E' \t\r\n') <> ''),
  CONSTRAINT domains_trust CHECK (NOT is_trusted_domain OR status IN ('approved', 'suspended')),
  CONSTRAINT domains_failed CHECK (processing <> 'processing_failed' OR (
    btrim(coalesce(failure_reason, ''), E' \t\r\n') <> '' AND retry_after IS NOT NULL AND failure_count > 0)),
  CONSTRAINT domains_no_funds CHECK (processing <> 'no_funds_this_year' OR no_funds_year IS NOT NULL),
  CONSTRAINT domains_high CHECK (processing <> 'processed_high_quality' OR high_quality_candidate_count > 0),
  CONSTRAINT domains_low CHECK (processing <> 'processed_low_quality' OR (
    low_quality_candidate_count >= 3 AND high_quality_candidate_count = 0))
);
CREATE INDEX domains_status ON messor.domains (status, created_at);
CREATE INDEX domains_waiting ON messor.domains (created_at, id)
  WHERE status = 'pending_review' OR review_reason IS NOT NULL;
CREATE INDEX idx_domain_status ON messor.domains (processing);
CREATE INDEX idx_domain_discovered_at ON messor.domains (created_at);
CREATE INDEX idx_domain_last_processed ON messor.domains (last_processed_at);
CREATE INDEX idx_domain_retry ON messor.domains (processing, retry_after) WHERE processing = 'processing_failed';
CREATE INDEX domains_first_label ON messor.domains (split_part(domain, '.', 1));
CREATE INDEX domains_session ON messor.domains (discovery_session_id) WHERE discovery_session_id IS NOT NULL;
CREATE TRIGGER domains_standstill BEFORE INSERT ON messor.domains
  FOR EACH ROW EXECUTE FUNCTION messor.heed_standstill();
CREATE TRIGGER domains_blacklisted BEFORE UPDATE OF status, processing ON messor.domains FOR EACH ROW
  WHEN (OLD.status = 'blacklisted' AND (NEW.status <> OLD.status OR NEW.processing <> OLD.processing))
  EXECUTE FUNCTION messor.keep_blacklisted();
CREATE TRIGGER domains_preflights AFTER UPDATE OF status ON messor.domains FOR EACH ROW
  WHEN (OLD.status = 'pending_review' AND NEW.status <> 'pending_review')
  EXECUTE FUNCTION messor.end_preflights();

-- Every time somebody asked for a domain, the first included.
CREATE TABLE messor.domain_submissions (
  id uuid PRIMARY KEY,
  domain_id uuid NOT NULL REFERENCES messor.domains ON DELETE CASCADE,
  submitted_by text NOT NULL,
  submitter_type text NOT NULL CHECK (submitter_type IN ('admin', 'public_user', 'system')),
  contact text CHECK (length(contact) <= 320),  -- where a notice may be sent; never in an event
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
