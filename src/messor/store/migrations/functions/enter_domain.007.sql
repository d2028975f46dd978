-- A submission, with the effects of `registry.domains.submit`. The public suffix list is not known here: a
-- name of more than two labels might be a part of somebody's domain, and is left to the program.
CREATE OR REPLACE FUNCTION messor.enter_domain(own_id uuid, given text, base text, actor text, kind text,
                                               context text, depth integer, delay real)
RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
  host text := lower(substring(btrim(given) FROM '^(?:https?://)?([^/?#:@\s]+)(?:[/?#:].*)?$'));
  name text := regexp_replace(host, '^www\.', '');
  known text;
  made uuid;
  said text := messor.plain_text(context, 'context', 4000);
BEGIN
  IF name IS NULL OR name !~ '^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])$' THEN
    RAISE invalid_parameter_value USING MESSAGE = format(
      '%L cannot be submitted here: only names such as example.org are recognised as domains in SQL. '
      'Use: messor domains submit NAME', left(given, 200));
  END IF;
  IF depth NOT BETWEEN 0 AND 100 THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('The depth must be between 0 and 100, not %s.', depth);
  END IF;
  IF delay NOT BETWEEN 1 AND 86400 THEN
    RAISE invalid_parameter_value USING MESSAGE = format('The delay must be between 1 and 86400 seconds, '
      'not %s. A reviewer may set a shorter one in the domain''s settings.', delay);
  END IF;
  INSERT INTO messor.domains (id, domain, base_url, submitted_by, submitter_type, submission_context,
                              max_crawl_depth, crawl_delay_seconds)
  VALUES (own_id, name, coalesce(base, 'https://' || host || '/'), actor, kind, said, depth, delay)
  ON CONFLICT (domain) DO NOTHING RETURNING id INTO made;
  IF made IS NULL THEN
    SELECT status INTO known FROM messor.domains WHERE domain = name;
    RAISE unique_violation USING MESSAGE = format('%s was submitted before and is %s.', name, known);
  END IF;
  INSERT INTO messor.domain_submissions (id, domain_id, submitted_by, submitter_type, context, max_crawl_depth,
                                         crawl_delay_seconds)
  VALUES (messor.new_id(), made, actor, kind, said, depth, delay);
  PERFORM messor.tell('domain.submitted', actor, made, NULL, jsonb_build_object('context', said));
  RETURN made;
END $$;
