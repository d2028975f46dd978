-- Whether a lane may be held: of an approved domain, or of a pending one for its pre-flight.
CREATE OR REPLACE FUNCTION messor.may_visit(status text, active boolean, preflight boolean) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT active AND (status = 'approved' OR (status = 'pending_review' AND preflight))
$$;
