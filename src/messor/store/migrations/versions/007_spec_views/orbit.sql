-- Specification 004.
CREATE SCHEMA orbit;

CREATE VIEW orbit.domain_risk AS
SELECT h.host AS hostname, round(messor.risk_at(h.risk_score, h.risk_at, n.now))::integer AS risk_score,
       coalesce((SELECT jsonb_agg(jsonb_build_object('at', f.occurred_at, 'signal', f.signal,
                                                     'points', f.points, 'score', f.score)
                                  ORDER BY f.occurred_at)
                   FROM (SELECT * FROM messor.friction_log f WHERE f.host_id = h.id
                          ORDER BY f.occurred_at DESC LIMIT 50) f), '[]') AS friction_events,
       h.last_request_at AS last_fetch_at, h.created_at, h.updated_at
  FROM messor.hosts h CROSS JOIN (SELECT messor.clock() AS now) n;
ALTER VIEW orbit.domain_risk ALTER COLUMN risk_score SET DEFAULT 0;
ALTER VIEW orbit.domain_risk ALTER COLUMN friction_events SET DEFAULT '[]';

CREATE VIEW orbit.url_fetch_cache AS
SELECT encode(p.url_hash, 'hex') AS url_hash, p.url, h.host AS hostname, x.markdown AS content,
       s.status_code, jsonb_strip_nulls(jsonb_build_object('Content-Type', s.content_type,
         'ETag', t.etag, 'Last-Modified', t.last_modified)) AS headers,
       encode(s.content_hash, 'hex') AS content_hash, t.last_fetched_at AS fetched_at,
       t.last_fetched_at + interval '24 hours' AS expires_at
  FROM messor.crawl_tasks t JOIN messor.pages p ON p.id = t.page_id
  JOIN messor.hosts h ON h.id = t.host_id
  JOIN messor.page_snapshots s ON s.id = t.snapshot_id
  LEFT JOIN messor.snapshot_texts x ON x.snapshot_id = s.id
 WHERE t.outcome IN ('ok', 'unchanged') AND t.kind = 'page';

CREATE VIEW orbit.ingestion_runs AS
SELECT id, trace_id, orbit_slug, mode, started_at, completed_at, outcome, evidence
  FROM messor.ingestion_runs;

DO $$
DECLARE item text;
BEGIN
  FOREACH item IN ARRAY ARRAY['domain_risk', 'url_fetch_cache', 'ingestion_runs'] LOOP
    EXECUTE format('CREATE TRIGGER %I INSTEAD OF INSERT OR UPDATE OR DELETE ON orbit.%I
      FOR EACH ROW EXECUTE FUNCTION messor.refuse_write(''only Messor itself writes what it observed'')',
      item || '_keep', item);
  END LOOP;
END $$;
