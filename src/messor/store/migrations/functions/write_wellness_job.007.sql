-- wellness.jobs: a job that waits or runs may be cancelled, as `jobs.jobs.cancel` does. Leases are taken and
-- ended by their holders alone.
CREATE OR REPLACE FUNCTION messor.write_wellness_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (to_jsonb(NEW) - 'state') <> (to_jsonb(OLD) - 'state') OR NEW.state IS DISTINCT FROM 'cancelled' THEN
    RAISE feature_not_supported USING MESSAGE =
      'Of wellness.jobs only the state can be changed, to cancelled: leases are kept by their workers.';
  END IF;
  IF OLD.state NOT IN ('queued', 'running') THEN
    RAISE invalid_parameter_value USING MESSAGE = format('Job %s is %s already.', OLD.id, OLD.state);
  END IF;
  UPDATE messor.jobs
     SET state = 'cancelled', finished_at = messor.clock(), locked_by = NULL, locked_at = NULL,
         lock_expires_at = NULL WHERE id = OLD.id;
  RETURN NEW;
END $$;
