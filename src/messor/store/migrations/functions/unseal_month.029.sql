-- Before a month of a sealed log is dropped by retention: notes it, and drops the salts of its rows.
CREATE OR REPLACE FUNCTION messor.unseal_month(sealed_log text, dropped date) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF sealed_log NOT IN ('events', 'http_fetches') OR EXISTS (
       SELECT FROM messor.seal_removals r WHERE r.log = sealed_log AND r.row_id IS NULL AND r.month = dropped) THEN
    RETURN;
  END IF;
  INSERT INTO messor.seal_removals (log, month, cause) VALUES (sealed_log, dropped, 'retention');
  UPDATE messor.seals SET salts = decode(repeat('00', length(salts)), 'hex')
   WHERE log = sealed_log AND month = dropped;
END $$;
