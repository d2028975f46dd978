-- A change of status along the table of `registry.life`, with its event, as `registry.domains.move` does it.
-- What follows an approval is left to `start_domain`.
CREATE OR REPLACE FUNCTION messor.move_domain(own_id uuid, after text, actor text, given_reason text)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  d messor.domains;
  why text := messor.plain_text(given_reason, 'reason', 2000);
  steps jsonb := '{"pending_review": ["approved", "rejected", "blacklisted"],
    "approved": ["pending_review", "suspended", "blacklisted"], "rejected": ["pending_review", "blacklisted"],
    "suspended": ["approved", "rejected", "blacklisted"], "blacklisted": []}';
BEGIN
  SELECT * INTO STRICT d FROM messor.domains WHERE id = own_id FOR NO KEY UPDATE;
  IF NOT steps -> d.status ? after THEN
    RAISE invalid_parameter_value USING MESSAGE = format('%s is %s; it cannot become %s.', d.domain, d.status,
      after), HINT = format('It can become one of %s.', steps -> d.status);
  END IF;
  IF after IN ('rejected', 'blacklisted') AND why IS NULL THEN
    RAISE not_null_violation USING MESSAGE = format('Give a reason why %s becomes %s.', d.domain, after);
  END IF;
  UPDATE messor.domains
     SET status = after, reviewed_by = actor, reviewed_at = messor.clock(), rejection_reason = why,
         is_trusted_domain = is_trusted_domain AND after IN ('approved', 'suspended'),
         review_reason = CASE WHEN after = 'pending_review' AND d.status = 'approved' THEN why END,
         policy_version = policy_version + 1, updated_at = messor.clock()
   WHERE id = own_id;
  PERFORM messor.tell(
    CASE WHEN after = 'pending_review' AND d.status = 'approved' THEN 'domain.review_asked'
         WHEN after = 'pending_review' THEN 'domain.resubmitted' ELSE 'domain.' || after END,
    actor, own_id, NULL, jsonb_build_object('reason', why, 'before', d.status)
      || CASE WHEN after <> 'approved' THEN '{}'::jsonb
              WHEN d.status = 'suspended' THEN '{"resumed": true}'::jsonb
              ELSE jsonb_build_object('start_url', d.base_url, 'max_depth', d.max_crawl_depth,
                                      'rate_limit', d.crawl_delay_seconds) END);
END $$;
