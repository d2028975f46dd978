-- Approve a domain and start its crawl: what `governance.decisions.approve` does, and `resume` where it was
-- suspended.
CREATE OR REPLACE FUNCTION messor.start_domain(own_id uuid, actor text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  d messor.domains;
  waiting record;
  taken integer := 0;
BEGIN
  SELECT * INTO STRICT d FROM messor.domains WHERE id = own_id FOR NO KEY UPDATE;
  IF EXISTS (SELECT FROM messor.erasures WHERE kind = 'url' AND strpos(key, d.domain) > 0) THEN
    RAISE feature_not_supported USING MESSAGE = format(
      'Pages of %s were erased, which SQL cannot keep out. Use: messor domains approve %1$s', d.domain);
  END IF;
  PERFORM messor.move_domain(own_id, 'approved', actor, NULL);
  IF d.status = 'pending_review' THEN
    PERFORM messor.plant_url(own_id, d.base_url, sha256(convert_to(d.base_url, 'UTF8')), 'seed', 5,
                             messor.clock());
    UPDATE messor.domains SET main_host_id = h.id FROM messor.hosts h
     WHERE domains.id = own_id AND h.host = substring(d.base_url FROM '^https?://([^/?#]+)')
       AND domains.main_host_id IS NULL;
  END IF;
  UPDATE messor.lanes SET claim_at = greatest(ready_at, due_at)
   WHERE domain_id = own_id AND worker_id IS NULL AND due_at IS NOT NULL;
  IF d.status = 'pending_review' AND d.processing = 'discovered' THEN
    UPDATE messor.domains
       SET processing = 'processing', last_processed_at = messor.clock(), updated_at = messor.clock(),
           processing_count = processing_count + 1, retry_after = NULL, no_funds_year = NULL
     WHERE id = own_id;
    PERFORM messor.tell('domain.processing', actor, own_id, NULL, '{"before": "discovered"}');
  END IF;
  FOR waiting IN UPDATE messor.submitted_urls SET taken_at = messor.clock()
                  WHERE domain_id = own_id AND taken_at IS NULL RETURNING url, url_hash LOOP
    CONTINUE WHEN d.pages_known + taken >= d.page_budget;
    PERFORM messor.plant_url(own_id, waiting.url, waiting.url_hash, 'manual', 5, messor.clock());
    taken := taken + 1;
  END LOOP;
  IF taken > 0 THEN
    PERFORM messor.tell('urls.taken', actor, own_id, NULL, jsonb_build_object('urls', taken));
  END IF;
END $$;
