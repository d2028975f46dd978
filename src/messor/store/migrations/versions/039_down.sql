ALTER TABLE messor.provider_holds DROP set_at;

-- Ends worker leases that ran out. Their lanes wait until the dead holder's last possible
-- request is `delay` old: it may have sent one just before its lease ended.
CREATE OR REPLACE FUNCTION messor.reap_workers() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  reaped integer;
BEGIN
  WITH dead AS (
    SELECT id, expires_at FROM messor.worker_leases
     WHERE ended_at IS NULL AND expires_at < (SELECT messor.clock())
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
         ready_at = greatest(l.ready_at, d.expires_at + make_interval(secs => l.delay)),
         claim_at = greatest(l.ready_at, d.expires_at + make_interval(secs => l.delay))
    FROM dead d WHERE l.worker_id = d.id;
  GET DIAGNOSTICS reaped = ROW_COUNT;
  RETURN reaped;
END $$;
