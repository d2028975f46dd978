-- Whoever shows events hears of new ones when they are committed. The notice says nothing: each
-- listener reads what it may see.
CREATE OR REPLACE FUNCTION messor.tell_of_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NOTIFY messor_events;
  RETURN NULL;
END $$;
