-- Back to 012.
DROP VIEW messor.funding_source_candidate, messor.clinics, messor.serp_snapshots_raw;
DROP TABLE messor.judgements, messor.candidates;
DROP FUNCTION messor.keep_candidate_steps();
DROP INDEX messor.domains_session;
ALTER TABLE messor.domains DROP CONSTRAINT domains_discovery_session;
ALTER TABLE messor.serp_snapshots DROP judged_in;
DROP TABLE messor.discovery_sessions, messor.serp_results, messor.serp_snapshots,
  messor.search_answers, messor.search_spend, messor.search_requests, messor.keywords,
  messor.organisation_domains, messor.organisations, messor.keyword_templates, messor.geo_sets,
  messor.serp_profiles, messor.vertical_services, messor.vertical_versions, messor.verticals;
