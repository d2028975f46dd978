-- Search, classes, scores and relevance. Every table that is derived from a page names it, so that a purged
-- page is purged here too.

-- One row per page and per record that stands. Texts are not held twice: they are read where they
-- lie when a page of results is shown.
CREATE TABLE messor.search_documents (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  page_id bigint NOT NULL,
  snapshot_id bigint NOT NULL,
  record_id bigint,                            -- NULL: the page itself
  domain_id uuid NOT NULL,
  kind text COLLATE "C" NOT NULL,              -- page, or the record's
  title text,
  config text COLLATE "C" NOT NULL,
  brand text,
  category text,
  price numeric,
  currency text,
  rating numeric,
  availability text,
  indexed_at timestamptz NOT NULL DEFAULT messor.clock(),
  words tsvector NOT NULL
);
CREATE UNIQUE INDEX search_documents_page ON messor.search_documents (page_id) WHERE record_id IS NULL;
CREATE UNIQUE INDEX search_documents_record ON messor.search_documents (record_id)
  WHERE record_id IS NOT NULL;
CREATE INDEX search_documents_of_page ON messor.search_documents (page_id);
CREATE INDEX search_documents_snapshot ON messor.search_documents (snapshot_id);
CREATE INDEX search_documents_config ON messor.search_documents (config);
CREATE INDEX search_documents_words ON messor.search_documents USING gin (words);

-- Pages whose documents are to be made anew. Extraction appends to it, never the flush; rows are
-- not unique, so that a page that changes while it is indexed is indexed again.
CREATE TABLE messor.search_due (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  page_id bigint NOT NULL
) WITH (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX search_due_page ON messor.search_due (page_id);

-- What kind of site a domain is, whether or not the registry knows it: result pages are full of
-- directories that nobody submits.
CREATE TABLE messor.domain_classes (
  domain text COLLATE "C" PRIMARY KEY CHECK (domain <> '' AND domain = lower(domain)),
  class text COLLATE "C" NOT NULL,
  confidence double precision NOT NULL CHECK (confidence BETWEEN 0 AND 1),
  reasons jsonb NOT NULL DEFAULT '[]',
  features text[] NOT NULL DEFAULT '{}',
  decided_by text,                             -- a reviewer; NULL: nobody, it was reckoned
  decided_reason text,
  reckoned text COLLATE "C",                   -- what was reckoned when a reviewer decided
  classified_at timestamptz NOT NULL DEFAULT messor.clock(),
  CHECK (decided_by IS NULL OR confidence = 1)
);
CREATE INDEX domain_classes_stale ON messor.domain_classes (classified_at) WHERE decided_by IS NULL;

-- How often reviewers gave a class to domains that show a feature.
CREATE TABLE messor.class_lessons (
  feature text COLLATE "C" NOT NULL,
  class text COLLATE "C" NOT NULL,
  domains integer NOT NULL CHECK (domains >= 0),
  PRIMARY KEY (feature, class)
);

-- Every score that was ever given, with its parts: value, weight, contribution and a sentence.
CREATE TABLE messor.scores (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  vertical_id uuid NOT NULL REFERENCES messor.verticals ON DELETE CASCADE,
  subject text NOT NULL CHECK (subject IN ('domain', 'organisation')),
  subject_id uuid NOT NULL,
  score double precision NOT NULL CHECK (score BETWEEN 0 AND 1),
  track_level text NOT NULL CHECK (track_level IN ('A', 'B', 'C', 'D')),
  parts jsonb NOT NULL,
  vertical_version integer NOT NULL,
  window_from timestamptz NOT NULL,
  window_to timestamptz NOT NULL,
  scored_at timestamptz NOT NULL DEFAULT messor.clock(),
  CHECK (window_from < window_to)
);
CREATE INDEX scores_subject ON messor.scores (subject_id, vertical_id, scored_at DESC);
CREATE INDEX scores_vertical ON messor.scores (vertical_id, subject, scored_at DESC);

-- Whether a page is about a vertical's topic, as last judged.
CREATE TABLE messor.page_flags (
  page_id bigint NOT NULL,
  vertical text COLLATE "C" NOT NULL,
  snapshot_id bigint,
  relevant boolean,                            -- NULL: nobody can tell yet
  score real NOT NULL CHECK (score BETWEEN 0 AND 1),
  reasons jsonb NOT NULL DEFAULT '[]',
  model_version text NOT NULL,
  flagged_at timestamptz NOT NULL DEFAULT messor.clock(),
  PRIMARY KEY (page_id, vertical)
);
CREATE INDEX page_flags_borderline ON messor.page_flags (vertical, abs(score - 0.5), page_id);
CREATE INDEX page_flags_snapshot ON messor.page_flags (snapshot_id);

-- What reviewers said of flags: the newest decision on a page stands, and classifiers learn from it.
-- The words are kept, so that learning does not need the archive.
CREATE TABLE messor.flag_decisions (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  page_id bigint NOT NULL,
  vertical text COLLATE "C" NOT NULL,
  domain text COLLATE "C" NOT NULL,
  relevant boolean NOT NULL,
  flagged boolean,                             -- what the flag had said
  overturned boolean NOT NULL,
  model_version text NOT NULL,
  reason text NOT NULL DEFAULT '',
  lexical real NOT NULL,                       -- the score by rules at that time
  title text NOT NULL,
  sample text NOT NULL,                        -- of the page's text
  decided_by text NOT NULL,
  decided_at timestamptz NOT NULL DEFAULT messor.clock()
);
CREATE INDEX flag_decisions_page ON messor.flag_decisions (page_id, vertical, id DESC);
CREATE INDEX flag_decisions_vertical ON messor.flag_decisions (vertical, id);

-- Classifiers learnt from decisions; at most one of a vertical judges.
CREATE TABLE messor.relevance_models (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  vertical text COLLATE "C" NOT NULL,
  version integer NOT NULL CHECK (version > 0),
  state text NOT NULL CHECK (state IN ('on', 'refused', 'off')),
  reason text NOT NULL,                        -- why it judges, or does not
  decisions integer NOT NULL,
  measured jsonb NOT NULL,                     -- by cross-validation, against the rules
  weights jsonb NOT NULL,
  trained_by text NOT NULL,
  trained_at timestamptz NOT NULL DEFAULT messor.clock(),
  UNIQUE (vertical, version)
);
CREATE UNIQUE INDEX relevance_models_on ON messor.relevance_models (vertical) WHERE state = 'on';

-- Pages that led to nothing for months: until then they are not made due by a track level.
CREATE TABLE messor.barren_pages (
  page_id bigint PRIMARY KEY,
  until timestamptz NOT NULL,
  put_off_at timestamptz NOT NULL DEFAULT messor.clock()
);
CREATE INDEX barren_pages_until ON messor.barren_pages (until);
