-- Charges one attempt to all keys, or to none when one of them has to wait, and answers how long.
-- The charge comes before the password is looked at, so guesses made at once are not cheaper than
-- guesses in a row. Who is turned away is charged nothing: a stranger cannot prolong the wait.
-- After the fifth attempt the wait is 10 s; it doubles up to 5 minutes. An hour of quiet after it
-- forgives all.
CREATE OR REPLACE FUNCTION messor.charge_login(keys text[], OUT wait interval, OUT is_news boolean)
LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := messor.clock();
BEGIN
  INSERT INTO messor.login_throttles (key, attempts, attempted_at, open_at)
  SELECT k, 0, moment, moment FROM unnest(keys) AS k ORDER BY k ON CONFLICT DO NOTHING;
  PERFORM FROM messor.login_throttles WHERE key = ANY (keys) ORDER BY key FOR UPDATE;
  moment := messor.clock();
  SELECT max(t.open_at) - moment, coalesce(bool_or(NOT t.is_told), false) INTO wait, is_news
    FROM messor.login_throttles t WHERE t.key = ANY (keys) AND t.open_at > moment;
  IF wait IS NOT NULL THEN
    UPDATE messor.login_throttles SET is_told = true
     WHERE key = ANY (keys) AND open_at > moment AND NOT is_told;
    RETURN;
  END IF;
  UPDATE messor.login_throttles t
     SET attempts = c.count, attempted_at = moment, is_told = false,
         open_at = moment + CASE WHEN c.count < 5 THEN interval '0'
           ELSE make_interval(secs => least(5 * power(2, least(c.count - 4, 20)), 300)) END
    FROM (SELECT key, 1 + CASE WHEN open_at + interval '1 hour' < moment THEN 0 ELSE attempts END AS count
            FROM messor.login_throttles WHERE key = ANY (keys)) c
   WHERE t.key = c.key;
  wait := interval '0';
END $$;
