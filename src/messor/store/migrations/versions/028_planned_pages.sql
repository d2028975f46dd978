-- When a page came into the plan of an ingestion: its cache is judged as it was then. Rows of
-- earlier releases do not say; no default for them, so that the table is not rewritten.
ALTER TABLE messor.ingestion_pages ADD planned_at timestamptz;
ALTER TABLE messor.ingestion_pages ALTER planned_at SET DEFAULT messor.clock();
