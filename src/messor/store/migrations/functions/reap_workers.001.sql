-- Ends worker leases that ran out. Their lanes wait `delay` from now: the holder may have sent a request
-- just before. A lease that ran out long ago was not reaped in time, or the clock stepped ahead: then its
-- holder is alive, counts its lease by its own clock, and hears with its next flush, 6 s at most, that it
-- has lost it; and what the lane was to wait is waited from now.
CREATE OR REPLACE FUNCTION messor.reap_workers() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  t timestamptz := messor.clock();
  reaped integer;
BEGIN
  WITH dead AS (
    SELECT id, expires_at, expires_at < t - interval '10 seconds' AS late
      FROM messor.worker_leases WHERE ended_at IS NULL AND expires_at < t
     ORDER BY id FOR UPDATE SKIP LOCKED
  ), ended AS (
    UPDATE messor.worker_leases w SET ended_at = d.expires_at, end_reason = 'expired'
      FROM dead d WHERE w.id = d.id RETURNING w.id
  ), closed AS (
    UPDATE messor.visits v SET ended_at = d.expires_at, end_reason = 'expired'
      FROM dead d JOIN messor.lanes l ON l.worker_id = d.id
     WHERE v.host_id = l.host_id AND v.token = l.token AND v.claimed_at = l.claimed_at
  )
  UPDATE messor.lanes l
     SET worker_id = NULL, slots = 0, claimed_at = NULL,
         ready_at = greatest(l.ready_at, t + make_interval(secs => l.delay), CASE WHEN d.late
           THEN t + greatest(make_interval(secs => l.delay + 6), l.ready_at - l.paced_at) END),
         claim_at = greatest(l.ready_at, t + make_interval(secs => l.delay), CASE WHEN d.late
           THEN t + greatest(make_interval(secs => l.delay + 6), l.ready_at - l.paced_at) END)
    FROM dead d WHERE l.worker_id = d.id;
  GET DIAGNOSTICS reaped = ROW_COUNT;
  RETURN reaped;
END $$;
