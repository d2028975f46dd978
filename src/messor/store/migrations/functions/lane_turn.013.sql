-- When a lane's turn comes: each step of its domain's priority counts as an hour of waiting, so that nothing
-- waits forever. In UTC, which makes it immutable.
CREATE OR REPLACE FUNCTION messor.lane_turn(claim_at timestamptz, priority smallint) RETURNS timestamp
LANGUAGE sql IMMUTABLE AS $$
  SELECT (claim_at AT TIME ZONE 'UTC') + (priority - 5) * interval '1 hour'
$$;
