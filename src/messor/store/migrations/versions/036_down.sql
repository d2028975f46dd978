ALTER TABLE messor.crawl_run_pages DROP CONSTRAINT crawl_run_pages_known;
DROP INDEX messor.crawl_runs_page_id;
ALTER TABLE messor.crawl_runs DROP CONSTRAINT crawl_runs_page;
