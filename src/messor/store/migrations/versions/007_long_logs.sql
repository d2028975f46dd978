-- Migration 007: what a long log needs. Rows come in the order of their time: a few kilobytes of
-- index find any hour in them.
CREATE INDEX http_fetches_time ON messor.http_fetches USING brin (fetched_at)
  WITH (autosummarize = on);
