-- Migration 006: hints for a broker that jobs are there, and who carries them to it.

-- One row per job asked for, written in its transaction; gone once the broker confirmed the hint.
CREATE TABLE messor.job_outbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  job_id uuid NOT NULL,
  job_type text NOT NULL,
  due_at timestamptz NOT NULL
) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0,
        autovacuum_vacuum_cost_delay = 0);
CREATE INDEX job_outbox_due ON messor.job_outbox (due_at, id);

-- One process at a time carries the hints. The row runs out, so a pooler is no hindrance.
CREATE TABLE messor.outbox_relay (
  is_the_one boolean PRIMARY KEY DEFAULT true CHECK (is_the_one),
  holder text NOT NULL DEFAULT '',
  expires_at timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 50);
INSERT INTO messor.outbox_relay DEFAULT VALUES;

-- Where nobody has carried hints for an hour none are written, so the outbox of a broker that was
-- given up does not grow; when somebody comes back, the sweep finds the jobs.
CREATE FUNCTION messor.note_hints() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO messor.job_outbox (job_id, job_type, due_at)
  SELECT id, job_type, available_at FROM asked
   WHERE state = 'queued'
     AND EXISTS (SELECT FROM messor.outbox_relay
                  WHERE expires_at > (SELECT messor.clock()) - interval '1 hour');
  RETURN NULL;
END $$;

-- Disabled until a broker is first used: without one, asking for a job costs what it did.
CREATE TRIGGER jobs_hint AFTER INSERT ON messor.jobs
  REFERENCING NEW TABLE AS asked FOR EACH STATEMENT EXECUTE FUNCTION messor.note_hints();
ALTER TABLE messor.jobs DISABLE TRIGGER jobs_hint;
