-- forager.proxies: a proxy is enabled or disabled by its operator, as `fetch.proxies.registry.switch`.
CREATE OR REPLACE FUNCTION messor.write_forager_proxy() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (to_jsonb(NEW) - ARRAY['is_active', 'updated_at']) <> (to_jsonb(OLD) - ARRAY['is_active', 'updated_at'])
     OR NEW.is_active IS NULL THEN
    RAISE feature_not_supported USING MESSAGE = 'Of forager.proxies only is_active can be changed.';
  END IF;
  IF NEW.is_active = OLD.is_active THEN
    RETURN NEW;
  END IF;
  UPDATE messor.proxies
     SET is_active = NEW.is_active, probe_at = NULL, updated_at = messor.clock(),
         failure_count = CASE WHEN NEW.is_active THEN 0 ELSE failure_count END
   WHERE id = OLD.id;
  PERFORM messor.tell(CASE WHEN NEW.is_active THEN 'proxy.enabled' ELSE 'proxy.disabled' END,
    messor.sql_actor(), NULL, NULL, jsonb_build_object('proxy', OLD.id,
      'at', format('%s://%s:%s', OLD.proxy_protocol, OLD.proxy_url, OLD.proxy_port), 'reason', 'operator'));
  RETURN NEW;
END $$;
