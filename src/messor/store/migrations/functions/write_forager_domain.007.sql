-- forager.domains: an INSERT is a submission with its terms, is_active pauses and resumes.
CREATE OR REPLACE FUNCTION messor.write_forager_domain() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  actor text := messor.sql_actor();
  own uuid;
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.id IS NOT NULL THEN
      RAISE feature_not_supported USING MESSAGE = 'Leave out the id: a domain is numbered by Messor.';
    END IF;
    IF NEW.base_url IS NULL OR NEW.base_url !~ '^https?://[a-z0-9._-]+(:[0-9]+)?/?$' THEN
      RAISE invalid_parameter_value USING MESSAGE =
        format('base_url %L is not the start of a site, such as https://www.example.org/.', NEW.base_url);
    END IF;
    -- The delay that is the default here is the default of all domains: it is not set.
    own := messor.enter_domain(messor.new_id(), NEW.domain_name, rtrim(NEW.base_url, '/') || '/', actor,
                               'system', NULL, 3, nullif(NEW.crawl_delay_seconds, 1)::real);
    PERFORM messor.change_terms(own, actor, NULL, NULL, NULL, nullif(NEW.max_concurrent_requests, 5));
    IF NEW.is_active IS NOT TRUE THEN
      PERFORM messor.hold_domain(own, actor, true);
    END IF;
    SELECT d.id, d.domain_name, d.base_url, d.is_active
      INTO NEW.id, NEW.domain_name, NEW.base_url, NEW.is_active
      FROM forager.domains d JOIN messor.domains m ON m.number = d.id WHERE m.id = own;
    RETURN NEW;
  END IF;
  IF (to_jsonb(NEW) - ARRAY['crawl_delay_seconds', 'max_concurrent_requests', 'is_active', 'updated_at'])
     <> (to_jsonb(OLD) - ARRAY['crawl_delay_seconds', 'max_concurrent_requests', 'is_active', 'updated_at']) THEN
    RAISE feature_not_supported USING MESSAGE =
      'Of forager.domains only crawl_delay_seconds, max_concurrent_requests and is_active can be changed.';
  END IF;
  SELECT id INTO STRICT own FROM messor.domains WHERE number = OLD.id;
  PERFORM messor.change_terms(own, actor,
    CASE WHEN NEW.crawl_delay_seconds <> OLD.crawl_delay_seconds THEN NEW.crawl_delay_seconds END::real,
    NULL, NULL, CASE WHEN NEW.max_concurrent_requests <> OLD.max_concurrent_requests
                     THEN NEW.max_concurrent_requests END);
  IF NEW.is_active IS DISTINCT FROM OLD.is_active THEN
    IF NEW.is_active AND (SELECT status FROM messor.domains WHERE id = own) <> 'approved' THEN
      RAISE invalid_parameter_value USING MESSAGE =
        format('%s is not approved; approve it first: messor domains approve %1$s', OLD.domain_name);
    END IF;
    PERFORM messor.hold_domain(own, actor, NEW.is_active IS NOT TRUE);
  END IF;
  RETURN NEW;
END $$;
