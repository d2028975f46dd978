-- funding.domain: an INSERT is a submission by the system; an admin blacklists with a reason.
CREATE OR REPLACE FUNCTION messor.write_funding_domain() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.status <> 'DISCOVERED' THEN
      RAISE invalid_parameter_value USING MESSAGE =
        format('A new domain is DISCOVERED, not %s.', NEW.status);
    END IF;
    NEW.domain_id := messor.enter_domain(coalesce(NEW.domain_id, messor.new_id()), NEW.domain_name, NULL,
                                         messor.sql_actor(), 'system', NULL, 3, NULL);
    SELECT domain INTO NEW.domain_name FROM messor.domains WHERE id = NEW.domain_id;
    UPDATE messor.domains SET discovery_session_id = NEW.discovery_session_id WHERE id = NEW.domain_id;
    RETURN NEW;
  END IF;
  IF NEW.status = OLD.status OR NEW.status <> 'BLACKLISTED'
     OR (to_jsonb(NEW) - ARRAY['status', 'blacklist_reason', 'blacklisted_by', 'blacklisted_at'])
     <> (to_jsonb(OLD) - ARRAY['status', 'blacklist_reason', 'blacklisted_by', 'blacklisted_at']) THEN
    RAISE feature_not_supported USING MESSAGE = 'Of funding.domain only the status can be changed, to BLACKLISTED '
      'with a blacklist_reason: all other states follow from processing. See: messor domains no-funds, retry';
  END IF;
  PERFORM messor.move_domain(OLD.domain_id, 'blacklisted',
    coalesce('member:' || NEW.blacklisted_by, messor.sql_actor()), NEW.blacklist_reason);
  RETURN NEW;
END $$;
