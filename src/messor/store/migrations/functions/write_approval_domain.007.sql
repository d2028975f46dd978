-- approval.domains: an INSERT is a submission with its event, a new status is a reviewer's decision.
CREATE OR REPLACE FUNCTION messor.write_approval_domain() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  submitter text := coalesce('member:' || NEW.submitted_by, messor.sql_actor());
  reviewer text := coalesce('member:' || NEW.reviewed_by, messor.sql_actor());
  d messor.domains;
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF coalesce(NEW.status, 'pending_review') <> 'pending_review' THEN
      RAISE invalid_parameter_value USING MESSAGE = format(
        'A submitted domain has status pending_review, not %s: submit it first, then decide.', NEW.status);
    END IF;
    NEW.id := messor.enter_domain(coalesce(NEW.id, messor.new_id()), NEW.domain_url, NULL, submitter,
      coalesce(NEW.submitter_type, CASE WHEN NEW.submitted_by IS NULL THEN 'system' ELSE 'admin' END),
      NEW.submission_context, NEW.max_crawl_depth, NEW.crawl_rate_limit_seconds::real);
    PERFORM messor.change_terms(NEW.id, submitter, NULL,
                                nullif(NEW.scrape_frequency_hours, 24), NULL, NULL);
    IF NOT NEW.active THEN
      PERFORM messor.hold_domain(NEW.id, submitter, true);
    END IF;
    IF NEW.is_trusted_domain THEN
      RAISE invalid_parameter_value USING MESSAGE = 'Only an approved domain can be trusted: approve it first.';
    END IF;
    SELECT v.domain_url, v.status, v.submitter_type INTO NEW.domain_url, NEW.status, NEW.submitter_type
      FROM approval.domains v WHERE v.id = NEW.id;
    RETURN NEW;
  END IF;
  IF (NEW.id, NEW.domain_url, NEW.created_at, NEW.submitter_type, NEW.last_scraped_at)
     IS DISTINCT FROM (OLD.id, OLD.domain_url, OLD.created_at, OLD.submitter_type, OLD.last_scraped_at)
     OR NEW.submitted_by IS DISTINCT FROM OLD.submitted_by
     OR NEW.submission_context IS DISTINCT FROM OLD.submission_context THEN
    RAISE feature_not_supported USING MESSAGE = 'Who submitted a domain, when and why is not changed: '
      'decisions (status, rejection_reason) and terms are.';
  END IF;
  IF NEW.reviewed_by IS NOT DISTINCT FROM OLD.reviewed_by THEN
    reviewer := messor.sql_actor();
  END IF;
  SELECT * INTO STRICT d FROM messor.domains WHERE id = OLD.id FOR NO KEY UPDATE;
  IF NEW.status IS DISTINCT FROM OLD.status THEN
    IF NEW.status = 'approved' THEN
      PERFORM messor.start_domain(OLD.id, reviewer);
    ELSE
      PERFORM messor.move_domain(OLD.id, NEW.status, reviewer,
        CASE WHEN NEW.rejection_reason IS DISTINCT FROM OLD.rejection_reason THEN NEW.rejection_reason END);
    END IF;
  END IF;
  PERFORM messor.change_terms(OLD.id, reviewer,
    CASE WHEN NEW.crawl_rate_limit_seconds IS DISTINCT FROM OLD.crawl_rate_limit_seconds
         THEN NEW.crawl_rate_limit_seconds END::real,
    CASE WHEN NEW.scrape_frequency_hours <> OLD.scrape_frequency_hours THEN NEW.scrape_frequency_hours END,
    CASE WHEN NEW.max_crawl_depth <> OLD.max_crawl_depth THEN NEW.max_crawl_depth END, NULL);
  IF NEW.active <> OLD.active THEN
    PERFORM messor.hold_domain(OLD.id, reviewer, NOT NEW.active);
  END IF;
  SELECT * INTO STRICT d FROM messor.domains WHERE id = OLD.id;
  IF NEW.is_trusted_domain <> OLD.is_trusted_domain AND NEW.is_trusted_domain <> d.is_trusted_domain THEN
    IF NEW.is_trusted_domain AND d.status <> 'approved' THEN
      RAISE invalid_parameter_value USING MESSAGE =
        format('%s is %s; only an approved domain can be trusted.', d.domain, d.status);
    END IF;
    UPDATE messor.domains SET is_trusted_domain = NEW.is_trusted_domain, policy_version = policy_version + 1,
           updated_at = messor.clock() WHERE id = OLD.id;
    PERFORM messor.tell(CASE WHEN NEW.is_trusted_domain THEN 'domain.trusted' ELSE 'domain.untrusted' END,
                        reviewer, OLD.id, NULL, '{}');
  END IF;
  RETURN NEW;
END $$;
