ALTER TABLE messor.ingestion_pages DROP planned_at;
