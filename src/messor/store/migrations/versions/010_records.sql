-- Migration 010: records, their history, products, and the queue of pages to be extracted.
-- Every table names its page, so that a page that is forgotten is forgotten here too.

-- What waits to be extracted: a page that is new or changed (its snapshot), or gone (none).
-- Appended to by the flush that stored the change, which therefore never waits for a reader;
-- a page's rows are taken one after another, oldest first, and go in the transaction that
-- writes what was made of them.
CREATE TABLE messor.extraction_due (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  page_id bigint NOT NULL,
  snapshot_id bigint,
  seen_at timestamptz NOT NULL DEFAULT messor.clock(),  -- when the change was seen
  due_at timestamptz NOT NULL DEFAULT messor.clock(),
  attempts smallint NOT NULL DEFAULT 0,
  cause text NOT NULL DEFAULT 'page' CHECK (cause IN ('page', 'parser')),
  pin text                                     -- "parser=version" to be used for this one time
) WITH (fillfactor = 80, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX extraction_due_page ON messor.extraction_due (page_id, id);
-- Pages from before, and those whose records a downgrade took away.
INSERT INTO messor.extraction_due (page_id, snapshot_id, seen_at)
SELECT t.page_id, t.snapshot_id, coalesce(c.seen_at, t.last_fetched_at, messor.clock())
  FROM messor.crawl_tasks t
  LEFT JOIN LATERAL (SELECT c.state, c.seen_at FROM messor.page_changes c
                      WHERE c.page_id = t.page_id ORDER BY c.seen_at DESC LIMIT 1) c ON true
 WHERE t.kind = 'page' AND t.snapshot_id IS NOT NULL AND c.state IS DISTINCT FROM 'removed'
 ORDER BY t.page_id;

-- What extraction made of a page's newest content, as a whole.
CREATE TABLE messor.extractions (
  page_id bigint PRIMARY KEY,
  snapshot_id bigint,                          -- NULL: the page is gone
  domain_id uuid NOT NULL,
  page_type text,
  page_type_confidence real,
  headline text,
  main_text text,
  markdown text,
  metadata jsonb NOT NULL DEFAULT '{}',
  flags jsonb NOT NULL DEFAULT '[]',
  warnings jsonb NOT NULL DEFAULT '[]',
  rejected jsonb NOT NULL DEFAULT '[]',        -- fields and records that were not believed, and why
  records integer NOT NULL DEFAULT 0,
  last_record_at timestamptz,                  -- when the page last stated any record
  extracted_at timestamptz NOT NULL DEFAULT messor.clock()
);
ALTER TABLE messor.extractions ALTER main_text SET STORAGE EXTERNAL, ALTER markdown SET STORAGE EXTERNAL;
CREATE INDEX extractions_domain ON messor.extractions (domain_id, page_type);

CREATE TABLE messor.records (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  page_id bigint NOT NULL,
  snapshot_id bigint NOT NULL,                 -- the newest that states it
  domain_id uuid NOT NULL,
  kind text NOT NULL,
  identity text COLLATE "C" NOT NULL,          -- tells it from others of its kind on the page
  state text NOT NULL DEFAULT 'current' CHECK (state IN ('current', 'removed')),
  confidence real NOT NULL CHECK (confidence BETWEEN 0 AND 1),
  parser text NOT NULL,
  parser_version text NOT NULL,
  data jsonb NOT NULL,                         -- values by field
  fields jsonb NOT NULL,                       -- confidence and evidence by field
  content_hash bytea NOT NULL,                 -- of the values
  first_seen timestamptz NOT NULL,
  last_seen timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,             -- when its values last changed
  removed_at timestamptz,
  UNIQUE (page_id, kind, identity)
);
CREATE INDEX records_kind ON messor.records (kind, domain_id, id) WHERE state = 'current';
CREATE INDEX records_snapshot ON messor.records (snapshot_id);

-- The history of records: what became new, changed, went and came back; a row for each field that
-- changed, one without a field for a record as a whole.
CREATE TABLE messor.record_changes (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  record_id bigint NOT NULL,
  page_id bigint NOT NULL,
  snapshot_id bigint,
  changed_at timestamptz NOT NULL,             -- when the page was seen so
  state text NOT NULL CHECK (state IN ('new', 'changed', 'removed', 'returned')),
  cause text NOT NULL CHECK (cause IN ('page', 'parser')),  -- the web changed, or its reader did
  field text,
  before jsonb,
  after jsonb
);
CREATE INDEX record_changes_record ON messor.record_changes (record_id, id);
CREATE INDEX record_changes_page ON messor.record_changes (page_id);

CREATE TABLE messor.products (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  record_id bigint NOT NULL UNIQUE,
  page_id bigint NOT NULL UNIQUE,
  snapshot_id bigint NOT NULL,
  domain_id uuid NOT NULL,
  url text COLLATE "C" NOT NULL,
  url_hash bytea NOT NULL,
  product_name text,
  description text,
  price numeric,                        -- NULL when the page states none
  currency text,                               -- never assumed
  availability text,
  rating numeric,
  review_count bigint,
  brand text,
  category text,
  sku text,
  gtin text,
  state text NOT NULL DEFAULT 'current' CHECK (state IN ('current', 'removed')),
  content_hash bytea NOT NULL,
  metadata jsonb NOT NULL DEFAULT '{}',        -- all other fields
  parser text NOT NULL,
  parser_version text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL              -- only when the content changed
);
CREATE INDEX idx_products_domain_id ON messor.products (domain_id);
CREATE INDEX idx_products_product_name ON messor.products (left(product_name, 200));
CREATE INDEX idx_products_price ON messor.products (price);
CREATE INDEX idx_products_availability ON messor.products (availability);
CREATE INDEX idx_products_created_at ON messor.products (created_at);
CREATE INDEX idx_products_url_hash ON messor.products (url_hash);
CREATE INDEX idx_products_brand ON messor.products (left(brand, 200));
CREATE INDEX idx_products_category ON messor.products (left(category, 200));

-- One row whenever price, currency or stock became another.
CREATE TABLE messor.product_prices (
  product_id bigint NOT NULL,
  page_id bigint NOT NULL,
  snapshot_id bigint NOT NULL,
  seen_at timestamptz NOT NULL,
  price numeric,
  currency text,
  availability text,
  cause text NOT NULL DEFAULT 'page',
  PRIMARY KEY (product_id, seen_at)
);
CREATE INDEX product_prices_page ON messor.product_prices (page_id);

CREATE TABLE messor.product_images (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  product_id bigint NOT NULL,
  page_id bigint NOT NULL,
  image_url text NOT NULL,
  url_hash bytea NOT NULL,                     -- SHA-256 of the address
  image_path text,                             -- in the store of images; NULL until downloaded
  content_hash bytea,
  alt_text text,
  image_type text NOT NULL DEFAULT 'primary' CHECK (image_type IN ('primary', 'gallery', 'thumbnail')),
  position integer NOT NULL DEFAULT 0,
  width integer,
  height integer,
  file_size integer,
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  UNIQUE (product_id, url_hash)
);
CREATE INDEX product_images_page ON messor.product_images (page_id);
CREATE VIEW messor.images AS
SELECT id, product_id, image_url, image_path, alt_text, image_type, position, width, height,
       file_size, created_at FROM messor.product_images;

-- Which version of a parser reads pages, everywhere or those of one domain; without a row the
-- newest does.
CREATE TABLE messor.parser_pins (
  parser text COLLATE "C" NOT NULL,
  domain_id uuid REFERENCES messor.domains ON DELETE CASCADE,  -- NULL: everywhere
  version text COLLATE "C" NOT NULL,
  previous text COLLATE "C",                   -- what read before, to go back to
  pinned_by text NOT NULL,
  pinned_at timestamptz NOT NULL DEFAULT messor.clock()
);
CREATE UNIQUE INDEX parser_pins_place
  ON messor.parser_pins (parser, coalesce(domain_id, '00000000-0000-0000-0000-000000000000'));

-- A candidate version held against what is stored, page by page, and what people made of it.
CREATE TABLE messor.parser_trials (
  id uuid PRIMARY KEY,
  parser text COLLATE "C" NOT NULL,
  version text COLLATE "C" NOT NULL,
  domain_id uuid REFERENCES messor.domains ON DELETE CASCADE,  -- NULL: everywhere
  state text NOT NULL DEFAULT 'compared'
    CHECK (state IN ('compared', 'promoted', 'rejected', 'rolled_back')),
  pages integer NOT NULL,
  report jsonb NOT NULL,
  started_by text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT messor.clock(),
  decided_by text,
  decided_at timestamptz,
  reason text
);
