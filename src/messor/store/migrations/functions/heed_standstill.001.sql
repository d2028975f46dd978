-- A domain added while all tasks are paused starts paused.
CREATE OR REPLACE FUNCTION messor.heed_standstill() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.paused := NEW.paused OR NOT NEW.active;
  NEW.active := NOT NEW.paused AND NOT EXISTS (SELECT FROM messor.standstill);
  RETURN NEW;
END $$;
