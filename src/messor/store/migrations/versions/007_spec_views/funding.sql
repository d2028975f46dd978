-- Specification 003.
CREATE SCHEMA funding;

CREATE TYPE funding.domain_status AS ENUM (
  'DISCOVERED', 'PROCESSING', 'PROCESSED_HIGH_QUALITY', 'PROCESSED_LOW_QUALITY', 'BLACKLISTED',
  'NO_FUNDS_THIS_YEAR', 'PROCESSING_FAILED');

CREATE VIEW funding.discovery_session AS
SELECT id AS session_id, started_at, finished_at, state AS status, statistics FROM messor.discovery_sessions;

CREATE VIEW funding.admin_user AS
SELECT id AS user_id, name, role FROM messor.members WHERE role IN ('admin', 'reviewer');

CREATE VIEW funding.domain AS
SELECT d.id AS domain_id, d.domain AS domain_name,
       CASE WHEN d.status = 'blacklisted' THEN 'BLACKLISTED'
            ELSE upper(d.processing) END::funding.domain_status AS status,
       d.created_at AS discovered_at, d.discovery_session_id, d.last_processed_at, d.processing_count,
       d.best_confidence_score, d.high_quality_candidate_count, d.low_quality_candidate_count,
       CASE WHEN d.status = 'blacklisted' THEN
         substring(d.reviewed_by FROM '^member:([0-9a-f-]{36})$')::uuid END AS blacklisted_by,
       CASE WHEN d.status = 'blacklisted' THEN d.reviewed_at END AS blacklisted_at,
       CASE WHEN d.status = 'blacklisted' THEN d.rejection_reason END AS blacklist_reason,
       d.no_funds_year,
       (SELECT string_agg(n.body, E'\n' ORDER BY n.created_at) FROM messor.domain_notes n
         WHERE n.domain_id = d.id) AS notes,
       d.failure_reason, d.failure_count, d.retry_after
  FROM messor.domains d;
ALTER VIEW funding.domain ALTER COLUMN domain_id SET DEFAULT messor.new_id();
ALTER VIEW funding.domain ALTER COLUMN status SET DEFAULT 'DISCOVERED';
ALTER VIEW funding.domain ALTER COLUMN discovered_at SET DEFAULT messor.clock();
ALTER VIEW funding.domain ALTER COLUMN processing_count SET DEFAULT 0;
ALTER VIEW funding.domain ALTER COLUMN high_quality_candidate_count SET DEFAULT 0;
ALTER VIEW funding.domain ALTER COLUMN low_quality_candidate_count SET DEFAULT 0;
ALTER VIEW funding.domain ALTER COLUMN failure_count SET DEFAULT 0;
CREATE TRIGGER domain_write INSTEAD OF INSERT OR UPDATE ON funding.domain
  FOR EACH ROW EXECUTE FUNCTION messor.write_funding_domain();
CREATE TRIGGER domain_keep INSTEAD OF DELETE ON funding.domain FOR EACH ROW
  EXECUTE FUNCTION messor.refuse_write('a domain is blacklisted or erased; see messor domains --help');

CREATE VIEW funding.funding_source_candidate AS
SELECT c.id AS candidate_id, c.domain_id, c.status, c.confidence_score, c.url, c.title, c.snippet,
       c.search_engine, c.search_query, c.position, c.organisation_name AS organization_name,
       c.program_name, c.validation_notes, c.session_id AS discovery_session_id, c.created_at, c.updated_at
  FROM messor.candidates c;

CREATE VIEW funding.contact_intelligence AS
SELECT record_id AS contact_id, candidate_id, confidence, data FROM messor.contact_intelligence;

DO $$
DECLARE item text;
BEGIN
  FOREACH item IN ARRAY ARRAY['discovery_session', 'admin_user', 'funding_source_candidate',
                              'contact_intelligence'] LOOP
    EXECUTE format('CREATE TRIGGER %I INSTEAD OF INSERT OR UPDATE OR DELETE ON funding.%I
      FOR EACH ROW EXECUTE FUNCTION messor.refuse_write(
        ''candidates are judged by sessions and reviewed with: messor candidates'')',
      item || '_keep', item);
  END LOOP;
END $$;
