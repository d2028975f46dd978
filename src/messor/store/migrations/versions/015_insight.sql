-- Migration 015: search over pages and records, scores, and what kind of site a domain is.

-- Search -----------------------------------------------------------------------------------------

-- Text without accents, as both documents and questions are compared. Letters that do not come
-- apart into a letter and its mark are named one by one.
CREATE FUNCTION messor.fold(given text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT replace(replace(replace(replace(replace(translate(
           regexp_replace(normalize(given, NFKD), '[\u0300-\u036F]', '', 'g'),
           'łŁøØđĐħĦıŧŦðÐ', 'lLoOdDhHitTdD'),
           'ß', 'ss'), 'æ', 'ae'), 'Æ', 'AE'), 'œ', 'oe'), 'Œ', 'OE')
$$;

-- How words of a language are brought to their stems; plainly, where that is not known. The name is
-- kept rather than the object: a server cannot be upgraded in place with columns of the latter.
CREATE FUNCTION messor.text_config(language text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE substring(lower(btrim(language)) FROM '^[a-z]{2,3}')
    WHEN 'ar' THEN 'arabic' WHEN 'ca' THEN 'catalan' WHEN 'da' THEN 'danish' WHEN 'de' THEN 'german'
    WHEN 'el' THEN 'greek' WHEN 'en' THEN 'english' WHEN 'es' THEN 'spanish' WHEN 'eu' THEN 'basque'
    WHEN 'fi' THEN 'finnish' WHEN 'fr' THEN 'french' WHEN 'ga' THEN 'irish' WHEN 'hi' THEN 'hindi'
    WHEN 'hu' THEN 'hungarian' WHEN 'hy' THEN 'armenian' WHEN 'id' THEN 'indonesian'
    WHEN 'it' THEN 'italian' WHEN 'lt' THEN 'lithuanian' WHEN 'nb' THEN 'norwegian'
    WHEN 'ne' THEN 'nepali' WHEN 'nl' THEN 'dutch' WHEN 'nn' THEN 'norwegian'
    WHEN 'no' THEN 'norwegian' WHEN 'pt' THEN 'portuguese' WHEN 'ro' THEN 'romanian'
    WHEN 'ru' THEN 'russian' WHEN 'sr' THEN 'serbian' WHEN 'sv' THEN 'swedish' WHEN 'ta' THEN 'tamil'
    WHEN 'tr' THEN 'turkish' WHEN 'yi' THEN 'yiddish' ELSE 'simple' END
$$;

-- The words of a document. A text with more of them than one row can hold is indexed by its
-- beginning rather than not at all.
CREATE FUNCTION messor.search_words(config text, title text, about text, body text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN setweight(to_tsvector(config::regconfig, messor.fold(coalesce(left(title, 1000), ''))), 'A')
      || setweight(to_tsvector(config::regconfig, messor.fold(coalesce(left(about, 5000), ''))), 'B')
      || setweight(to_tsvector(config::regconfig, messor.fold(coalesce(left(body, 100000), ''))), 'D');
EXCEPTION WHEN program_limit_exceeded THEN
  RETURN setweight(to_tsvector(config::regconfig, messor.fold(coalesce(left(title, 1000), ''))), 'A')
      || setweight(to_tsvector(config::regconfig, messor.fold(coalesce(left(body, 10000), ''))), 'D');
END $$;

-- A figure as records state it; NULL for what is none.
CREATE FUNCTION messor.figure(given text) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN given ~ '^\s*-?[0-9]{1,15}(\.[0-9]{1,10})?\s*$' THEN given::numeric END
$$;

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

-- Pages from before, and those whose documents a downgrade took away.
INSERT INTO messor.search_due (page_id)
SELECT page_id FROM messor.crawl_tasks WHERE kind = 'page' AND snapshot_id IS NOT NULL ORDER BY page_id;

CREATE FUNCTION messor.want_search() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO messor.search_due (page_id) SELECT page_id FROM extracted ORDER BY page_id;
  RETURN NULL;
END $$;
CREATE TRIGGER extractions_new_search AFTER INSERT ON messor.extractions
  REFERENCING NEW TABLE AS extracted FOR EACH STATEMENT EXECUTE FUNCTION messor.want_search();
CREATE TRIGGER extractions_changed_search AFTER UPDATE ON messor.extractions
  REFERENCING NEW TABLE AS extracted FOR EACH STATEMENT EXECUTE FUNCTION messor.want_search();

-- Classes ----------------------------------------------------------------------------------------

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

-- Scores -----------------------------------------------------------------------------------------

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
