-- wellness.domains: an INSERT is a submission by the system, a new class is what a classifier says.
CREATE OR REPLACE FUNCTION messor.write_wellness_domain() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  actor text := messor.sql_actor();
BEGIN
  IF TG_OP = 'INSERT' THEN
    NEW.id := messor.enter_domain(coalesce(NEW.id, messor.new_id()), NEW.domain, NULL, actor, 'system', NULL, 3, NULL);
    SELECT d.domain, d.created_at, d.updated_at INTO NEW.domain, NEW.created_at, NEW.updated_at
      FROM messor.domains d WHERE d.id = NEW.id;
    IF NEW.domain_class IS DISTINCT FROM 'unknown' AND NEW.domain_class IS NOT NULL THEN
      UPDATE messor.domains SET domain_class = NEW.domain_class WHERE id = NEW.id;
      PERFORM messor.tell('domain.classified', actor, NEW.id, NULL,
        jsonb_build_object('class', NEW.domain_class, 'before', 'unknown'));
    END IF;
    RETURN NEW;
  END IF;
  IF (to_jsonb(NEW) - 'domain_class' - 'updated_at') <> (to_jsonb(OLD) - 'domain_class' - 'updated_at') THEN
    RAISE feature_not_supported USING MESSAGE = 'Of wellness.domains only domain_class can be changed.';
  END IF;
  IF coalesce(btrim(NEW.domain_class), '') = '' THEN
    RAISE not_null_violation USING
      MESSAGE = format('Name the class of %s; ''unknown'' is one.', OLD.domain);
  END IF;
  IF NEW.domain_class <> OLD.domain_class THEN
    UPDATE messor.domains SET domain_class = NEW.domain_class, updated_at = messor.clock() WHERE id = OLD.id;
    PERFORM messor.tell('domain.classified', actor, OLD.id, NULL,
      jsonb_build_object('class', NEW.domain_class, 'before', OLD.domain_class));
  END IF;
  RETURN NEW;
END $$;
