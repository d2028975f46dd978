-- The steps of a candidate, whoever writes to the table.
CREATE OR REPLACE FUNCTION messor.keep_candidate_steps() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'A candidate that is % cannot become %', OLD.status, NEW.status
    USING ERRCODE = 'check_violation';
END $$;
