-- Notes the clock with each change of a lane's ready_at.
CREATE OR REPLACE FUNCTION messor.stamp_pace() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.paced_at := messor.clock();
  RETURN NEW;
END $$;
