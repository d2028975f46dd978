-- Tells which addresses the hosts of held lanes turned out to have, and takes their slots.
-- Answers the slots each lane may use; 0 means the address is full and the lane was given back.
CREATE OR REPLACE FUNCTION messor.settle_addresses(worker bigint, host_ids bigint[], tokens bigint[],
                                                   addresses text[], address_slots integer)
RETURNS TABLE (host_id bigint, slots smallint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  lane record;
  used integer;
  granted smallint;
BEGIN
  FOR lane IN
    SELECT l.host_id, l.token, l.claimed_at, l.slots, r.address
      FROM unnest(host_ids, tokens, addresses) AS r (host_id, token, address)
      JOIN messor.lanes l ON l.host_id = r.host_id AND l.token = r.token AND l.worker_id = worker
     ORDER BY r.address, l.host_id
  LOOP
    PERFORM pg_advisory_xact_lock(hashtextextended('address:' || lane.address, 0));
    SELECT coalesce(sum(o.slots), 0) INTO used FROM messor.lanes o
     WHERE o.worker_id IS NOT NULL AND o.address = lane.address AND o.host_id <> lane.host_id;
    granted := greatest(least(lane.slots, address_slots - used), 0);
    IF granted > 0 THEN
      UPDATE messor.lanes l SET address = lane.address, slots = granted
       WHERE l.host_id = lane.host_id;
    ELSE
      UPDATE messor.lanes l
         SET address = lane.address, worker_id = NULL, slots = 0, claimed_at = NULL,
             claim_at = messor.clock() + interval '0.5 second'
       WHERE l.host_id = lane.host_id;
      UPDATE messor.visits v SET ended_at = messor.clock(), end_reason = 'address_full'
       WHERE v.host_id = lane.host_id AND v.token = lane.token AND v.claimed_at = lane.claimed_at;
    END IF;
    RETURN QUERY SELECT lane.host_id, granted;
  END LOOP;
END $$;
