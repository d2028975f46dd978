ALTER TABLE messor.proxies DROP COLUMN trusted;
