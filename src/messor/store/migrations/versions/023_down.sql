DROP TRIGGER crawl_tasks_stay ON messor.crawl_tasks;
DROP TRIGGER pages_stay ON messor.pages;
DROP TRIGGER pages_tasks ON messor.pages;
DROP TRIGGER hosts_pages ON messor.hosts;
DROP TRIGGER crawl_tasks_page ON messor.crawl_tasks;
DROP TRIGGER pages_host ON messor.pages;
DROP FUNCTION messor.refuse_another_key();
DROP FUNCTION messor.tasks_go_with_pages();
DROP FUNCTION messor.pages_go_with_hosts();
DROP FUNCTION messor.tasks_need_pages();
DROP FUNCTION messor.pages_need_hosts();
ALTER TABLE messor.crawl_tasks ADD CONSTRAINT crawl_tasks_page_id_fkey
  FOREIGN KEY (page_id) REFERENCES messor.pages ON DELETE CASCADE;
ALTER TABLE messor.pages ADD CONSTRAINT pages_host_id_fkey
  FOREIGN KEY (host_id) REFERENCES messor.hosts ON DELETE CASCADE;
