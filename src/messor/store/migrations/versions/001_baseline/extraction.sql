-- The queue of pages to be extracted.

-- What waits to be extracted: a page that is new or changed (its snapshot), or gone (none).
-- Appended to by the flush that stored the change, which therefore never waits for a reader;
-- a page's rows are taken one after another, oldest first, and go in the transaction that
-- writes what was made of them.
CREATE TABLE messor.extraction_due (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  page_id bigint NOT NULL,
  snapshot_id bigint,
  seen_at timestamptz NOT NULL DEFAULT messor.clock(),  -- when the change was seen
  due_at timestamptz NOT NULL DEFAULT messor.clock(),
  attempts smallint NOT NULL DEFAULT 0,
  cause text NOT NULL DEFAULT 'page' CHECK (cause IN ('page', 'parser')),
  pin text                                     -- "parser=version" to be used for this one time
) WITH (fillfactor = 80, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX extraction_due_page ON messor.extraction_due (page_id, id);
