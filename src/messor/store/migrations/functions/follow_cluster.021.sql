-- Lets positions go on beyond all that were ever given out, if the database is in another cluster or was set
-- back to an earlier moment. Their upper half is the time in units of ten seconds, so that two restores of one
-- backup do not give out the same. Runs before anything is written there: on every new connection.
CREATE OR REPLACE FUNCTION messor.follow_cluster(is_forced boolean DEFAULT false) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  newest bigint;
  first bigint;
BEGIN
  IF pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean THEN
    RETURN false;
  END IF;
  IF NOT is_forced AND EXISTS (SELECT FROM messor.commit_order WHERE cluster = messor.cluster_identity()) THEN
    RETURN false;
  END IF;
  LOCK TABLE messor.commit_order IN EXCLUSIVE MODE;
  IF NOT is_forced AND EXISTS (SELECT FROM messor.commit_order WHERE cluster = messor.cluster_identity()) THEN
    RETURN false;
  END IF;
  -- Whoever is writing with the old shift ends first.
  LOCK TABLE messor.events, messor.changes, messor.search_outbox IN SHARE ROW EXCLUSIVE MODE;
  SELECT max(p::text::bigint) INTO newest FROM (
    (SELECT tx FROM messor.events ORDER BY tx DESC LIMIT 1) UNION ALL
    (SELECT tx FROM messor.changes ORDER BY tx DESC LIMIT 1) UNION ALL
    (SELECT tx FROM messor.search_outbox ORDER BY tx DESC LIMIT 1) UNION ALL
    SELECT tx FROM messor.search_indexes UNION ALL SELECT tx FROM messor.webhooks UNION ALL
    SELECT tx FROM messor.watch_position UNION ALL
    (SELECT position FROM messor.exports ORDER BY created_at DESC LIMIT 1) UNION ALL
    SELECT since::text::xid8 FROM messor.commit_order) AS known (p);
  first := greatest((coalesce(newest, 0) >> 32) + 1, (extract(epoch FROM messor.clock()) / 10)::bigint) << 32;
  UPDATE messor.commit_order
     SET cluster = messor.cluster_identity(), since = first, followed_at = messor.clock();
  EXECUTE format(
    'CREATE OR REPLACE FUNCTION messor.commit_shift() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS %L',
    format('SELECT %s::bigint', first - pg_current_xact_id()::text::bigint));
  -- A search server keeps the newest number of each document: what it saw before the restore must not win.
  PERFORM setval('messor.search_outbox_id_seq', nextval('messor.search_outbox_id_seq') + (1::bigint << 32));
  RETURN true;
END $$;
