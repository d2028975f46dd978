-- Versions of parsers: pins and trials.

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
    CHECK (state IN ('shadowing', 'compared', 'promoted', 'rejected', 'rolled_back')),
  pages integer NOT NULL,
  report jsonb NOT NULL,
  started_by text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT messor.clock(),
  decided_by text,
  decided_at timestamptz,
  reason text,
  -- While a trial is shadowing, its candidate reads pages as they come in; after `most` of them it is
  -- compared. Trials that read what is stored are compared from the start, and have no such number.
  most integer CHECK (most > 0)
);
-- One candidate shadows a place once, and whoever reads pages asks which do.
CREATE UNIQUE INDEX parser_trials_shadowing ON messor.parser_trials
  (parser, version, coalesce(domain_id, '00000000-0000-0000-0000-000000000000'))
  WHERE state = 'shadowing';
