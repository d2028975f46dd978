-- Blacklisted is for ever, whoever writes to the table.
CREATE OR REPLACE FUNCTION messor.keep_blacklisted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is blacklisted: that is for ever', OLD.domain USING ERRCODE = 'check_violation';
END $$;
