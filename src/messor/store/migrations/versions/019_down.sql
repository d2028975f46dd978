-- Back to 018.
DROP INDEX messor.serp_snapshots_keyword, messor.candidates_trusted;
DROP INDEX messor.idx_products_domain_newest, messor.idx_products_updated_at, messor.idx_products_rating;
DROP INDEX messor.records_of_domain, messor.records_of_kind;
DROP TRIGGER events_told ON messor.events;
DROP FUNCTION messor.tell_of_events();
DROP INDEX messor.jobs_died;
DROP TABLE messor.fetch_rollup, messor.fetch_days, messor.fetch_minutes;
ALTER TABLE messor.pages DROP CONSTRAINT pages_host_id_url_hash_key,
  ADD CONSTRAINT pages_host_id_url_hash_key UNIQUE (host_id, url_hash);
DROP INDEX messor.http_fetches_host;
