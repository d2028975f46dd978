-- The cluster and its timeline: a copy elsewhere has another identifier, a restore to an earlier moment or a
-- failover another timeline. Some services do not tell; then `messor db moved` must be run after a restore.
CREATE OR REPLACE FUNCTION messor.cluster_identity() RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT system_identifier FROM pg_control_system())
         || '.' || left(pg_walfile_name(pg_current_wal_lsn()), 8);
EXCEPTION WHEN insufficient_privilege OR undefined_function OR feature_not_supported THEN
  RETURN 'untold';
END $$;
