-- A new lane has its domain's priority, as does one that moves to another domain.
CREATE OR REPLACE FUNCTION messor.take_priority() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.priority := coalesce((SELECT d.priority FROM messor.domains d WHERE d.id = NEW.domain_id), 5);
  RETURN NEW;
END $$;
