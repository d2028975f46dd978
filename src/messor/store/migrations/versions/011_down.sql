ALTER TABLE messor.crawl_tasks DROP COLUMN wire_tag;
