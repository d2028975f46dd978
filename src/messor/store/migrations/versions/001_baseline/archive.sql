-- Snapshots of pages, and where their bytes are in the WARC segments.

CREATE TABLE messor.segments (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  worker_id bigint NOT NULL,                   -- the worker lease it is written under
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'sealed')),
  bytes bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  sealed_at timestamptz
);

CREATE TABLE messor.page_snapshots (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  page_id bigint NOT NULL,
  content_hash bytea NOT NULL,
  data_hash bytea NOT NULL,
  raw_hash bytea NOT NULL,
  reader_version smallint NOT NULL,
  segment_id bigint NOT NULL,
  segment_offset bigint NOT NULL,
  segment_length integer NOT NULL,
  size integer NOT NULL,
  status_code smallint NOT NULL,
  provider text NOT NULL DEFAULT 'http',
  content_type text,
  title text,
  description text,
  language text,
  crawled_at timestamptz NOT NULL,
  verdict text,                                -- NULL for a good one; blocked, empty, soft_404 …
  signals jsonb,                               -- reservations of rights that came with it
  -- The bytes of a snapshot may lie in another page's record; then it has a revisit record of its own.
  revisit_segment_id bigint,
  revisit_offset bigint,
  revisit_length integer,
  -- When it was found that the bytes are not those of this snapshot. Met again, they take their place.
  misfiled_at timestamptz,
  UNIQUE (page_id, content_hash, data_hash)
);
CREATE TRIGGER mended AFTER UPDATE ON messor.page_snapshots FOR EACH ROW
  WHEN (OLD.misfiled_at IS NOT NULL AND NEW.misfiled_at IS NULL) EXECUTE FUNCTION messor.mended();

CREATE TABLE messor.snapshot_texts (
  snapshot_id bigint PRIMARY KEY,
  markdown text NOT NULL,
  data jsonb
);
-- Uncompressed: pages are read whole, and pglz costs more CPU than it saves here.
ALTER TABLE messor.snapshot_texts ALTER markdown SET STORAGE EXTERNAL, ALTER data SET STORAGE EXTERNAL;

CREATE TABLE messor.page_changes (
  page_id bigint NOT NULL,
  seen_at timestamptz NOT NULL,
  snapshot_id bigint,
  state text NOT NULL CHECK (state IN ('new', 'changed', 'removed')),
  PRIMARY KEY (page_id, seen_at)
);

-- Records of a page that no snapshot points at: it was seen again with the same content in other bytes,
-- or could not be kept. They replay like others, and must go when the page is forgotten.
CREATE TABLE messor.spare_records (
  page_id bigint NOT NULL,
  segment_id bigint NOT NULL,
  segment_offset bigint NOT NULL,
  segment_length integer NOT NULL,
  PRIMARY KEY (page_id, segment_id, segment_offset)
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

CREATE VIEW messor.page_html AS
SELECT DISTINCT ON (page_id, content_hash) id, page_id, content_hash, raw_hash, segment_id,
       segment_offset, segment_length, size, crawled_at AS fetched_at
  FROM messor.page_snapshots ORDER BY page_id, content_hash, id DESC;

CREATE VIEW messor.page_content AS
SELECT DISTINCT ON (s.page_id, s.content_hash) s.id, s.page_id, s.content_hash, t.markdown,
       messor.count_words(t.markdown) AS word_count, s.provider, s.crawled_at AS fetched_at
  FROM messor.page_snapshots s JOIN messor.snapshot_texts t ON t.snapshot_id = s.id
 ORDER BY s.page_id, s.content_hash, s.id DESC;

-- What an ingestion takes from the archive instead of asking the site: good answers of a day.
CREATE VIEW messor.url_fetch_cache AS
SELECT encode(p.url_hash, 'hex') AS url_hash, p.url, h.host AS hostname, x.markdown AS content,
       s.status_code, jsonb_strip_nulls(jsonb_build_object('Content-Type', s.content_type,
         'ETag', t.etag, 'Last-Modified', t.last_modified)) AS headers,
       encode(s.content_hash, 'hex') AS content_hash, t.last_fetched_at AS fetched_at,
       t.last_fetched_at + interval '24 hours' AS expires_at, p.id AS page_id, s.id AS snapshot_id
  FROM messor.crawl_tasks t JOIN messor.pages p ON p.id = t.page_id
  JOIN messor.hosts h ON h.id = t.host_id
  JOIN messor.page_snapshots s ON s.id = t.snapshot_id
  JOIN messor.snapshot_texts x ON x.snapshot_id = s.id
 WHERE t.outcome IN ('ok', 'unchanged') AND t.kind = 'page';
