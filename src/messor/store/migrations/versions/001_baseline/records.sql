-- Records, their history, products. Every table names its page, so that a purged page is purged here too.

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
CREATE TRIGGER extractions_new_search AFTER INSERT ON messor.extractions
  REFERENCING NEW TABLE AS extracted FOR EACH STATEMENT EXECUTE FUNCTION messor.want_search();
CREATE TRIGGER extractions_changed_search AFTER UPDATE ON messor.extractions
  REFERENCING NEW TABLE AS extracted FOR EACH STATEMENT EXECUTE FUNCTION messor.want_search();

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
-- Records and products in the orders that people list them in.
CREATE INDEX records_of_kind ON messor.records (kind, id);
CREATE INDEX records_of_domain ON messor.records (domain_id, id);

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
  price numeric,                               -- NULL when the page states none
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
CREATE INDEX idx_products_rating ON messor.products (rating);
CREATE INDEX idx_products_updated_at ON messor.products (updated_at);
CREATE INDEX idx_products_domain_newest ON messor.products (domain_id, created_at, id);

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
  -- A picture is fetched as a page of its own, whose bytes lie in the archive.
  image_page_id bigint REFERENCES messor.pages ON DELETE SET NULL,
  media_type text,
  refusal text,                                -- why it is not downloaded
  refused_at timestamptz,
  moved_to text,                               -- where it is now, after `moves` redirects
  moves smallint NOT NULL DEFAULT 0,
  UNIQUE (product_id, url_hash)
);
CREATE INDEX product_images_page ON messor.product_images (page_id);
CREATE INDEX product_images_fetched ON messor.product_images (image_page_id)
  WHERE image_page_id IS NOT NULL;
CREATE INDEX product_images_waiting ON messor.product_images (id) WHERE image_page_id IS NULL;
CREATE TRIGGER product_images_forget BEFORE UPDATE OF image_page_id ON messor.product_images
  FOR EACH ROW
  WHEN (OLD.image_page_id IS NOT NULL AND NEW.image_page_id IS NULL AND NEW.moves = OLD.moves)
  EXECUTE FUNCTION messor.forget_image();

-- What a reviewer says of one field of a record as it was read from one snapshot. The value is kept
-- as it was written; without one, the page does not state the field at all.
CREATE TABLE messor.corrections (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  record_id bigint NOT NULL,
  snapshot_id bigint NOT NULL,
  domain_id uuid NOT NULL REFERENCES messor.domains (id) ON DELETE CASCADE,
  kind text NOT NULL,
  field text NOT NULL,
  found text,
  correct text CHECK (correct <> '' AND length(correct) <= 4000),
  said_by text NOT NULL,
  said_at timestamptz NOT NULL DEFAULT messor.clock(),
  UNIQUE (record_id, snapshot_id, field)
);

-- Weights by which competing values of a field are ranked, as learnt from corrections.
CREATE TABLE messor.rankings (
  version int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  fields jsonb NOT NULL,                       -- weights by field
  measured jsonb NOT NULL,                     -- by field: examples, domains, usual and learnt accuracy
  learnt_by text NOT NULL,
  learnt_at timestamptz NOT NULL DEFAULT messor.clock(),
  in_force boolean NOT NULL DEFAULT false
);
CREATE UNIQUE INDEX rankings_in_force ON messor.rankings (in_force) WHERE in_force;

CREATE VIEW messor.images AS
SELECT id, product_id, image_url, image_path, alt_text, image_type, position, width, height,
       file_size, created_at FROM messor.product_images;
