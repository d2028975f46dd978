-- Change a domain's terms; NULL leaves one as it is. As `registry.domains.configure`.
CREATE OR REPLACE FUNCTION messor.change_terms(own_id uuid, actor text, delay real, hours integer, depth integer,
                                               slots integer)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  changes jsonb := jsonb_strip_nulls(jsonb_build_object('crawl_delay_seconds', delay,
    'max_concurrent_requests', slots, 'max_crawl_depth', depth, 'scrape_frequency_hours', hours));
BEGIN
  IF changes = '{}' THEN
    RETURN;
  END IF;
  UPDATE messor.domains
     SET crawl_delay_seconds = coalesce(delay, crawl_delay_seconds),
         scrape_frequency_hours = coalesce(hours, scrape_frequency_hours),
         max_crawl_depth = coalesce(depth, max_crawl_depth),
         max_concurrent_requests = coalesce(slots, max_concurrent_requests),
         policy_version = policy_version + 1, updated_at = messor.clock()
   WHERE id = own_id;
  PERFORM messor.tell('domain.configured', actor, own_id, NULL, changes);
END $$;
