-- What the clock said when a lane's ready_at came about: should the clock prove to have been wrong,
-- the wait that was meant is still known. Rows of earlier releases do not say.
ALTER TABLE messor.lanes ADD paced_at timestamptz;
ALTER TABLE messor.lanes ALTER paced_at SET DEFAULT messor.clock();

CREATE FUNCTION messor.stamp_pace() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.paced_at := messor.clock();
  RETURN NEW;
END $$;
CREATE TRIGGER stamp_pace BEFORE UPDATE OF ready_at ON messor.lanes FOR EACH ROW
  WHEN (NEW.ready_at IS DISTINCT FROM OLD.ready_at) EXECUTE FUNCTION messor.stamp_pace();

-- The clock as running processes saw it: one row.
CREATE TABLE messor.clock_watch (
  id boolean PRIMARY KEY DEFAULT true CHECK (id),
  seen_at timestamptz NOT NULL,                -- the latest reading
  ahead_from timestamptz                       -- the first one after its last step forward
) WITH (fillfactor = 50);
