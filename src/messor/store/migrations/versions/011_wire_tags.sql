-- Migration 011: the bytes of a page's last answer as they came, content encoding and all, by a
-- name of 64 bits. The same again need not be unpacked.
ALTER TABLE messor.crawl_tasks ADD COLUMN wire_tag bigint;
