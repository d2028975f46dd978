-- What is purged or erased leaves no address behind in a run.
DELETE FROM messor.crawl_runs r WHERE NOT EXISTS (SELECT FROM messor.pages p WHERE p.id = r.page_id);
DELETE FROM messor.crawl_run_pages m
 WHERE NOT EXISTS (SELECT FROM messor.pages p WHERE p.id = m.page_id);
ALTER TABLE messor.crawl_runs ADD CONSTRAINT crawl_runs_page
  FOREIGN KEY (page_id) REFERENCES messor.pages ON DELETE CASCADE;
CREATE INDEX crawl_runs_page_id ON messor.crawl_runs (page_id);
ALTER TABLE messor.crawl_run_pages ADD CONSTRAINT crawl_run_pages_known
  FOREIGN KEY (page_id) REFERENCES messor.pages ON DELETE CASCADE;
