-- A deleted host takes its pages along. Given as arrays, keys are looked up in their index however many.
CREATE OR REPLACE FUNCTION messor.pages_go_with_hosts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM messor.pages WHERE host_id = ANY (ARRAY(SELECT id FROM removed));
  RETURN NULL;
END $$;
