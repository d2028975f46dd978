-- Pages that search does not know, though their content is there: an earlier downgrade and upgrade took
-- their documents away and queued nothing.
INSERT INTO messor.search_due (page_id)
SELECT t.page_id FROM messor.crawl_tasks t
  LEFT JOIN messor.search_documents d ON d.page_id = t.page_id AND d.record_id IS NULL
 WHERE t.kind = 'page' AND t.snapshot_id IS NOT NULL AND d.page_id IS NULL
   AND NOT EXISTS (SELECT FROM messor.search_due q WHERE q.page_id = t.page_id)
 ORDER BY t.page_id;
