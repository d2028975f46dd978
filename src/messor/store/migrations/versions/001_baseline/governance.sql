-- Pre-flights and erasure.

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

-- What must never be kept again: checked before a page is fetched and when it is read. Of a person the
-- list holds a hash: it must not itself be what it forbids to keep.
CREATE TABLE messor.erasures (
  id uuid PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('domain', 'url', 'person')),
  key text COLLATE "C" NOT NULL,
  reason text NOT NULL,
  erased_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  UNIQUE (kind, key)
);

-- Pages whose traces are gone. A visit that held one may still bring it: it is forgotten again.
CREATE TABLE messor.forgotten_pages (
  page_id bigint PRIMARY KEY,
  logs boolean NOT NULL,                       -- what was logged of it, too
  forgotten_at timestamptz NOT NULL DEFAULT messor.clock()
);
