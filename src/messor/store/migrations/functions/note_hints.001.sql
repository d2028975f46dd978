-- Notes jobs for the broker. Where nobody has relayed hints for an hour none are written, so the outbox of a
-- broker that was given up does not grow; when a relay comes back, the sweep finds the jobs. Jobs that put a
-- page to a model get no hint: extraction polls for them.
CREATE OR REPLACE FUNCTION messor.note_hints() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO messor.job_outbox (job_id, job_type, due_at)
  SELECT id, job_type, available_at FROM asked
   WHERE state = 'queued' AND job_type <> 'extract_ai'
     AND EXISTS (SELECT FROM messor.outbox_relay
                  WHERE expires_at > (SELECT messor.clock()) - interval '1 hour');
  RETURN NULL;
END $$;
