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

CREATE TABLE messor.rankings (
  version int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  fields jsonb NOT NULL,                       -- weights by field
  measured jsonb NOT NULL,                     -- by field: examples, domains, usual and learnt accuracy
  learnt_by text NOT NULL,
  learnt_at timestamptz NOT NULL DEFAULT messor.clock(),
  in_force boolean NOT NULL DEFAULT false
);
CREATE UNIQUE INDEX rankings_in_force ON messor.rankings (in_force) WHERE in_force;
