-- Verticals, what their files contain, and organisations.

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

CREATE VIEW messor.clinics AS
SELECT o.*, v.name AS vertical FROM messor.organisations o JOIN messor.verticals v ON v.id = o.vertical_id
 WHERE v.name = 'wellness';
