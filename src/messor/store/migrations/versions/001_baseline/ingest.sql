-- Orbits, their tiles, and the runs that fill them.

CREATE TABLE messor.orbits (
  id uuid PRIMARY KEY,
  slug text COLLATE "C" NOT NULL UNIQUE CHECK (slug ~ '^[a-z0-9](-?[a-z0-9]+)*$' AND length(slug) <= 100),
  name text NOT NULL,
  owner text NOT NULL,
  domain_id uuid REFERENCES messor.domains ON DELETE SET NULL,
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  updated_at timestamptz NOT NULL DEFAULT messor.clock()
);

CREATE TABLE messor.ingestion_runs (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  trace_id text COLLATE "C" NOT NULL UNIQUE,
  orbit_slug text COLLATE "C" NOT NULL,
  mode text NOT NULL CHECK (mode IN ('light', 'standard', 'user_assisted')),
  url text NOT NULL,
  domain_id uuid,
  requested_by text NOT NULL,
  stage text NOT NULL DEFAULT 'discovering' CHECK (stage IN ('discovering', 'fetching', 'done')),
  started_at timestamptz NOT NULL DEFAULT messor.clock(),
  completed_at timestamptz,
  outcome text CHECK (outcome IN ('success', 'partial', 'blocked', 'error')),
  evidence jsonb
);
CREATE INDEX ingestion_runs_orbit ON messor.ingestion_runs (orbit_slug, started_at DESC);
-- Runs that are under way, or whose process is gone: always few.
CREATE INDEX ingestion_runs_open ON messor.ingestion_runs (started_at) WHERE completed_at IS NULL;

-- The pages a run planned, and why each was chosen.
CREATE TABLE messor.ingestion_pages (
  run_id bigint NOT NULL REFERENCES messor.ingestion_runs ON DELETE CASCADE,
  page_id bigint NOT NULL,
  position smallint NOT NULL,
  reason text NOT NULL,
  cached boolean NOT NULL DEFAULT false,
  -- When the page was planned: its cache is judged as it was then. NULL in rows older than the column.
  planned_at timestamptz DEFAULT messor.clock(),
  PRIMARY KEY (run_id, page_id)
);

CREATE TABLE messor.tiles (
  id uuid PRIMARY KEY,
  orbit_id uuid NOT NULL REFERENCES messor.orbits ON DELETE CASCADE,
  run_id bigint NOT NULL,
  position smallint NOT NULL,
  category text NOT NULL,
  title text NOT NULL,
  summary text NOT NULL,
  items jsonb NOT NULL DEFAULT '[]',
  source_url text NOT NULL,
  snapshot_id bigint,
  confidence real NOT NULL CHECK (confidence BETWEEN 0 AND 1)
);
CREATE INDEX tiles_orbit ON messor.tiles (orbit_id, position);
