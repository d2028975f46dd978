-- Back to 008.
DROP VIEW messor.domain;
DROP FUNCTION messor.forget_pages(bigint[], boolean);
DROP TABLE messor.blanks, messor.forgotten_pages;
DROP FUNCTION messor.person_key(text);
DELETE FROM messor.erasures WHERE kind = 'person';
ALTER TABLE messor.erasures DROP CONSTRAINT erasures_kind_check,
  ADD CONSTRAINT erasures_kind_check CHECK (kind IN ('domain', 'url'));
DROP INDEX messor.events_domain;
DROP TRIGGER domains_preflights ON messor.domains;
DROP FUNCTION messor.end_preflights();
DROP FUNCTION messor.may_visit(text, boolean, boolean);
ALTER TABLE messor.lanes DROP preflight;
DROP TABLE messor.preflights, messor.domain_notes, messor.submitted_urls, messor.domain_submissions;
DROP TRIGGER domains_blacklisted ON messor.domains;
DROP FUNCTION messor.keep_blacklisted();
DROP INDEX messor.domains_first_label, messor.idx_domain_last_processed, messor.idx_domain_discovered_at,
  messor.idx_domain_status, messor.domains_waiting;
ALTER TABLE messor.domains
  DROP CONSTRAINT domains_name, DROP CONSTRAINT domains_reason, DROP CONSTRAINT domains_trust,
  DROP review_reason, DROP discovery_session_id, DROP last_processed_at, DROP processing_count,
  DROP best_confidence_score, DROP high_quality_candidate_count, DROP low_quality_candidate_count,
  DROP no_funds_year, DROP failure_reason, DROP failure_count, DROP retry_after;
