-- While one of these is not lifted, no worker sends a request to a site.
CREATE TABLE messor.traffic_halts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  halted_at timestamptz NOT NULL DEFAULT messor.clock(),
  halted_by text NOT NULL,
  reason text NOT NULL CHECK (reason <> ''),
  lifted_at timestamptz,
  lifted_by text,
  CHECK ((lifted_at IS NULL) = (lifted_by IS NULL))
);
-- At most one is in force, and looking for it costs nothing.
CREATE UNIQUE INDEX traffic_halts_in_force ON messor.traffic_halts ((true)) WHERE lifted_at IS NULL;
