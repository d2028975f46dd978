-- The schema at revision 039, the last before the migrations were squashed: `pg_dump --schema-only`, without
-- comments, settings and monthly partitions. A database of it must still upgrade.
SET check_function_bodies = off;
CREATE FUNCTION messor.base_frequency(own interval, track_level text, hours integer) RETURNS interval
    LANGUAGE sql IMMUTABLE
    AS $$
  SELECT coalesce(own,
                  CASE track_level WHEN 'A' THEN interval '1 day' WHEN 'B' THEN interval '7 days'
                                   WHEN 'C' THEN interval '30 days' WHEN 'D' THEN interval '91 days' END,
                  make_interval(hours => hours), interval '1 day')
$$;
CREATE FUNCTION messor.charge_login(keys text[], OUT wait interval, OUT is_news boolean) RETURNS record
    LANGUAGE plpgsql
    AS $$
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
CREATE FUNCTION messor.claim_lanes(worker bigint, wanted integer, default_delay real, address_slots integer, look_ahead real, slow_wanted integer, only_domain uuid DEFAULT NULL::uuid, only_run uuid DEFAULT NULL::uuid) RETURNS TABLE(host_id bigint, token bigint, claimed_at timestamp with time zone, slots smallint, delay real, ready_in double precision)
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
  t timestamptz := messor.clock();
  candidates bigint[];
  full_domains uuid[];
  full_addresses text[];
  open_domains uuid[];
  open_addresses text[];
BEGIN
  PERFORM FROM messor.worker_leases w
    WHERE w.id = worker AND w.ended_at IS NULL AND w.expires_at > t FOR KEY SHARE;  -- a flush renews beside it; the reaper waits
  IF NOT FOUND THEN RETURN; END IF;

  -- Lanes whose domain or address is full are passed over: however many they are, they must not
  -- stand before the others. Held lanes are few, so this is cheap to know.
  SELECT array_agg(f.domain_id) INTO full_domains FROM (
    SELECT l.domain_id FROM messor.lanes l JOIN messor.domains d ON d.id = l.domain_id
     WHERE l.worker_id IS NOT NULL
     GROUP BY l.domain_id, d.max_concurrent_requests
    HAVING sum(l.slots) >= d.max_concurrent_requests) f;
  SELECT array_agg(f.address) INTO full_addresses FROM (
    SELECT l.address FROM messor.lanes l WHERE l.worker_id IS NOT NULL AND l.address IS NOT NULL
     GROUP BY l.address HAVING sum(l.slots) >= address_slots) f;

  SELECT array_agg(c.host_id) INTO candidates FROM (
    SELECT l.host_id FROM messor.lanes l
     WHERE l.worker_id IS NULL AND l.claim_at <= t + make_interval(secs => look_ahead)
       AND (slow_wanted > 0 OR NOT l.slow)
       AND (only_domain IS NULL OR (l.domain_id = only_domain AND (only_run IS NULL OR l.host_id IN (
              SELECT k.host_id FROM messor.crawl_run_tasks(only_run) k
               WHERE k.due_at <= t + make_interval(secs => look_ahead)))) OR l.host_id IN (
              SELECT p.host_id FROM messor.robots_redirects e JOIN messor.hosts h ON h.id = e.host_id
                JOIN messor.pages p ON p.id = e.page_id WHERE h.domain_id = only_domain))
       AND l.domain_id <> ALL (coalesce(full_domains, '{}'))
       AND (l.address IS NULL OR l.address <> ALL (coalesce(full_addresses, '{}')))
     ORDER BY l.claim_at LIMIT wanted * 2 FOR UPDATE SKIP LOCKED) c;
  IF candidates IS NULL THEN RETURN; END IF;
  t := messor.clock();  -- after the lanes were free, so that visits never overlap in the history

  SELECT array_agg(d.domain_id) INTO open_domains FROM (
    SELECT DISTINCT l.domain_id FROM messor.lanes l WHERE l.host_id = ANY (candidates)) d
   WHERE pg_try_advisory_xact_lock(hashtextextended('domain:' || d.domain_id, 0));
  SELECT array_agg(a.address) INTO open_addresses FROM (
    SELECT DISTINCT l.address FROM messor.lanes l
     WHERE l.host_id = ANY (candidates) AND l.address IS NOT NULL) a
   WHERE pg_try_advisory_xact_lock(hashtextextended('address:' || a.address, 0));

  RETURN QUERY
  WITH standing AS (
    SELECT l.host_id, l.domain_id, l.address, l.claim_at, l.slow, l.mode_delay, l.mode_until,
           d.max_concurrent_requests AS cap, d.crawl_delay_seconds, r.crawl_delay,
           messor.risk_at(h.risk_score, h.risk_at, t) AS risk,
           -- A domain is skipped while its main host is critical, a host while it is itself.
           greatest(messor.critical_until(h.risk_score, h.risk_at),
                    messor.critical_until(m.risk_score, m.risk_at)) AS critical_until,
           coalesce(l.assisted_until > t, false) AS assisted
      FROM messor.lanes l
      JOIN messor.domains d ON d.id = l.domain_id AND messor.may_visit(d.status, d.active, l.preflight)
      JOIN messor.hosts h ON h.id = l.host_id
      LEFT JOIN messor.hosts m ON m.id = d.main_host_id
      LEFT JOIN messor.robots_files r ON r.id = h.robots_id
     WHERE l.host_id = ANY (candidates) AND l.domain_id = ANY (open_domains)
       AND (l.address IS NULL OR l.address = ANY (open_addresses))
  ), wish AS (
    SELECT s.host_id, s.domain_id, s.address, s.claim_at, s.slow, s.cap, p.delay,
           CASE WHEN p.delay = 0 THEN s.cap ELSE 1 END AS want
      FROM standing s
      CROSS JOIN LATERAL (SELECT greatest(
             coalesce(s.crawl_delay_seconds, CASE WHEN s.mode_until > t THEN s.mode_delay END,
                      default_delay),
             messor.risk_delay(s.risk), coalesce(s.crawl_delay, 0))::real AS delay) p
     WHERE s.assisted OR s.critical_until IS NULL OR s.critical_until <= t
  ), domain_use AS (
    SELECT l.domain_id, sum(l.slots) AS used FROM messor.lanes l
     WHERE l.worker_id IS NOT NULL AND l.domain_id = ANY (open_domains) GROUP BY 1
  ), address_use AS (
    SELECT l.address, sum(l.slots) AS used FROM messor.lanes l
     WHERE l.worker_id IS NOT NULL AND l.address = ANY (open_addresses) GROUP BY 1
  ), granted AS (
    SELECT w.host_id, w.delay, w.claim_at, w.slow, least(w.want,
             w.cap - coalesce(du.used, 0)
               - coalesce(sum(w.want) OVER (PARTITION BY w.domain_id ORDER BY w.claim_at, w.host_id
                          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0),
             CASE WHEN w.address IS NULL THEN w.want ELSE address_slots - coalesce(au.used, 0)
               - coalesce(sum(w.want) OVER (PARTITION BY w.address ORDER BY w.claim_at, w.host_id
                          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) END
           )::smallint AS slots
      FROM wish w LEFT JOIN domain_use du USING (domain_id) LEFT JOIN address_use au USING (address)
  ), chosen AS (
    SELECT * FROM (
      SELECT g.*, count(*) FILTER (WHERE g.slow) OVER (ORDER BY g.claim_at, g.host_id) AS slow_rank
        FROM granted g WHERE g.slots > 0) g
     WHERE NOT g.slow OR g.slow_rank <= slow_wanted ORDER BY g.claim_at LIMIT wanted
  ), held AS (
    UPDATE messor.lanes l SET worker_id = worker, token = l.token + 1, slots = c.slots,
                              delay = c.delay, claimed_at = t
      FROM chosen c WHERE l.host_id = c.host_id
    RETURNING l.host_id, l.token, l.claimed_at, l.slots, l.delay, l.ready_at
  ), put_off AS (
    -- Full, contended or one slow host too many: to the back of the line, so that they cannot
    -- starve the others.
    UPDATE messor.lanes l SET claim_at = t + interval '0.5 second'
     WHERE l.host_id = ANY (candidates) AND l.host_id IN (SELECT w.host_id FROM wish w)
       AND (l.slow OR l.host_id NOT IN (SELECT g.host_id FROM granted g WHERE g.slots > 0))
       AND l.host_id NOT IN (SELECT c.host_id FROM chosen c)
  ), skipped AS (
    UPDATE messor.lanes l SET claim_at = s.critical_until FROM standing s
     WHERE l.host_id = s.host_id AND NOT s.assisted AND s.critical_until > t
  ), closed AS (
    -- Of domains that may not be visited; approval opens them again.
    UPDATE messor.lanes l SET claim_at = NULL FROM messor.domains d
     WHERE l.host_id = ANY (candidates) AND d.id = l.domain_id
       AND NOT messor.may_visit(d.status, d.active, l.preflight)
  ), logged AS (
    INSERT INTO messor.visits (host_id, token, worker_id, claimed_at)
    SELECT h.host_id, h.token, worker, h.claimed_at FROM held h
  )
  SELECT h.host_id, h.token, h.claimed_at, h.slots, h.delay,
         greatest(extract(epoch FROM h.ready_at - messor.clock()), 0)::float8 FROM held h;
END $$;
CREATE FUNCTION messor.clock() RETURNS timestamp with time zone
    LANGUAGE sql
    AS $$
  SELECT clock_timestamp()
         + coalesce(nullif(current_setting('messor.clock_offset', true), '')::interval, interval '0')
$$;
CREATE FUNCTION messor.count_words(markdown text) RETURNS integer
    LANGUAGE sql IMMUTABLE STRICT
    AS $$
  SELECT coalesce(array_length(regexp_split_to_array(nullif(btrim(markdown, E' \t\r\n'), ''), '\s+'), 1), 0)
$$;
CREATE FUNCTION messor.crawl_run_tasks(run uuid) RETURNS TABLE(page_id bigint, host_id bigint, due_at timestamp with time zone)
    LANGUAGE sql STABLE
    AS $$
  SELECT t.page_id, t.host_id, t.due_at
    FROM messor.crawl_run_pages m JOIN messor.crawl_tasks t ON t.page_id = m.page_id
   WHERE m.run_id = run AND m.fetched AND t.due_at IS NOT NULL
  UNION ALL
  SELECT t.page_id, t.host_id, t.due_at
    FROM messor.crawl_runs r JOIN messor.hosts h ON h.domain_id = r.domain_id
    JOIN messor.crawl_tasks t ON t.host_id = h.id AND t.kind = 'sitemap'
   WHERE r.id = run AND r.sitemaps AND t.due_at IS NOT NULL
$$;
CREATE FUNCTION messor.critical_until(score real, scored_at timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE
    AS $$
  SELECT CASE WHEN score > 80
              THEN scored_at + make_interval(secs => 86400.0 * ln(80.0 / score) / ln(0.9)) END
$$;
CREATE FUNCTION messor.delete_old_rows(log text, months integer, most integer) RETURNS bigint
    LANGUAGE plpgsql
    AS $_$
DECLARE
  kept_from timestamptz :=
    date_trunc('month', messor.clock() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - make_interval(months => months);
  other text := format('messor.%I', log || '_other');
  deleted bigint;
BEGIN
  EXECUTE format('DELETE FROM %s WHERE ctid = ANY (ARRAY(SELECT ctid FROM %s WHERE %s < $1 LIMIT $2))',
                 other, other, messor.partition_key(log)) USING kept_from, most;
  GET DIAGNOSTICS deleted = ROW_COUNT;
  RETURN deleted;
END $_$;
CREATE FUNCTION messor.drop_old_partition(log text, months integer) RETURNS text
    LANGUAGE plpgsql
    SET lock_timeout TO '200ms'
    AS $_$
DECLARE
  kept_from date := date_trunc('month', messor.clock() AT TIME ZONE 'UTC') - make_interval(months => months);
  old text;
BEGIN
  SELECT c.relname INTO old FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
   WHERE i.inhparent = format('messor.%I', log)::regclass
     AND c.relname ~ ('^' || log || '_\d{4}_\d{2}$')
     AND to_date(right(c.relname, 7), 'YYYY_MM') < kept_from
   ORDER BY c.relname LIMIT 1;
  IF old IS NOT NULL THEN
    EXECUTE format('DROP TABLE messor.%I', old);
  END IF;
  RETURN old;
EXCEPTION WHEN lock_not_available THEN
  RETURN NULL;
END $_$;
CREATE FUNCTION messor.end_preflights() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  UPDATE messor.lanes SET preflight = false WHERE domain_id = NEW.id AND preflight;
  UPDATE messor.crawl_tasks t SET due_at = NULL, status = 'cancelled' FROM messor.preflights p
   WHERE p.domain_id = NEW.id AND p.finished_at IS NULL AND t.page_id = p.page_id;
  DELETE FROM messor.preflights WHERE domain_id = NEW.id AND finished_at IS NULL;
  RETURN NULL;
END $$;
CREATE FUNCTION messor.error_pattern(message text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  SELECT left(trim(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
         regexp_replace(left(message, 1000),
           '\m[a-z][a-z0-9+.-]{0,20}://[^\s"''<>)]+', '<url>', 'gi'),
           '"[^"]*"|“[^”]*”|«[^»]*»|`[^`]*`|(?<!\w)''[^'']*''(?!\w)', '<text>', 'g'),
           '\m[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\M', '<id>', 'gi'),
           '\m(0x[0-9a-f]+|(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{8,})\M', '<hex>', 'gi'),
           '\d+([.,:]\d+)*', '<n>', 'g'),
           '\s+', ' ', 'g')), 300)
$$;
CREATE FUNCTION messor.figure(given text) RETURNS numeric
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
  SELECT CASE WHEN given ~ '^\s*-?[0-9]{1,15}(\.[0-9]{1,10})?\s*$' THEN given::numeric END
$_$;
CREATE FUNCTION messor.fold(given text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  SELECT CASE WHEN octet_length(given) = length(given) THEN given ELSE
    regexp_replace(
      replace(replace(replace(replace(replace(translate(
        regexp_replace(normalize(given, NFKD),
          '[\u0300-\u036F\u00AD\u0591-\u05BD\u05BF\u05C1\u05C2\u05C4\u05C5\u05C7\u0610-\u061A\u0640\u064B-\u065F\u0670\u200B-\u200F\u202A-\u202E\u2060\u2066-\u2069\uFEFF]',
          '', 'g'),
        'łŁøØđĐħĦıŧŦðÐ', 'lLoOdDhHitTdD'),
        'ß', 'ss'), 'æ', 'ae'), 'Æ', 'AE'), 'œ', 'oe'), 'Œ', 'OE'),
      '([\u3005-\u3007\u3041-\u3096\u30A1-\u30FA\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF\U00020000-\U0003FFFF][\u3099\u309A]?)',
      ' \1 ', 'g') END
$$;
CREATE FUNCTION messor.forget_image() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  NEW.image_path := NULL;
  NEW.content_hash := NULL;
  NEW.media_type := NULL;
  NEW.width := NULL;
  NEW.height := NULL;
  NEW.file_size := NULL;
  NEW.refusal := 'Its page was forgotten.';
  NEW.refused_at := messor.clock();
  RETURN NEW;
END $$;
CREATE FUNCTION messor.forget_pages(ids bigint[], logs boolean) RETURNS bigint
    LANGUAGE plpgsql
    AS $_$
DECLARE
  place record;
  snapshots bigint[];
  gone bigint := 0;
  rows bigint;
BEGIN
  SELECT coalesce(array_agg(id), '{}') INTO snapshots FROM messor.page_snapshots WHERE page_id = ANY (ids);
  INSERT INTO messor.blanks (segment_id, segment_offset, segment_length)
  SELECT segment_id, segment_offset, segment_length FROM messor.page_snapshots WHERE id = ANY (snapshots)
   UNION
  SELECT revisit_segment_id, revisit_offset, revisit_length FROM messor.page_snapshots
   WHERE id = ANY (snapshots) AND revisit_segment_id IS NOT NULL
   UNION
  SELECT segment_id, segment_offset, segment_length FROM messor.spare_records WHERE page_id = ANY (ids)
   ORDER BY 1, 2 ON CONFLICT DO NOTHING;
  INSERT INTO messor.forgotten_pages (page_id, logs) SELECT DISTINCT i, logs FROM unnest(ids) i ORDER BY 1
  ON CONFLICT (page_id) DO UPDATE SET logs = messor.forgotten_pages.logs OR excluded.logs;
  FOR place IN
    SELECT c.relname, a.attname FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'messor'
      JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
       AND a.attname IN ('snapshot_id', 'page_snapshot_id', 'page_id') AND a.atttypid = 'bigint'::regtype
     WHERE NOT c.relispartition AND (c.relkind = 'r' OR (c.relkind = 'p' AND logs))
       AND c.relname NOT IN ('forgotten_pages', 'crawl_tasks')
     -- What hangs on a snapshot before the snapshots themselves.
     ORDER BY c.relname = 'page_snapshots', a.attname DESC, c.relname
  LOOP
    EXECUTE format('DELETE FROM messor.%I WHERE %I = ANY ($1)', place.relname, place.attname)
      USING CASE WHEN place.attname = 'page_id' THEN ids ELSE snapshots END;
    GET DIAGNOSTICS rows = ROW_COUNT;
    gone := gone + rows;
  END LOOP;
  WITH left_by AS (
    DELETE FROM messor.pages WHERE id = ANY (ids) RETURNING host_id  -- its task goes with it
  )
  UPDATE messor.domains d SET pages_known = greatest(d.pages_known - l.pages, 0)
    FROM (SELECT h.domain_id, count(*) AS pages FROM left_by JOIN messor.hosts h ON h.id = left_by.host_id
           GROUP BY 1) l
   WHERE d.id = l.domain_id;
  RETURN gone;
END $_$;
CREATE FUNCTION messor.heed_standstill() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  NEW.paused := NEW.paused OR NOT NEW.active;
  NEW.active := NOT NEW.paused AND NOT EXISTS (SELECT FROM messor.standstill);
  RETURN NEW;
END $$;
CREATE FUNCTION messor.keep_blacklisted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  RAISE EXCEPTION '% is blacklisted: that is for ever', OLD.domain USING ERRCODE = 'check_violation';
END $$;
CREATE FUNCTION messor.keep_candidate_steps() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  RAISE EXCEPTION 'A candidate that is % cannot become %', OLD.status, NEW.status
    USING ERRCODE = 'check_violation';
END $$;
CREATE FUNCTION messor.make_all_partitions() RETURNS void
    LANGUAGE plpgsql
    SET lock_timeout TO '200ms'
    AS $$
DECLARE
  log text;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('messor.partitions', 0)) THEN
    RETURN;
  END IF;
  FOR log IN SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
              WHERE n.nspname = 'messor' AND c.relkind = 'p' ORDER BY c.relname
  LOOP
    BEGIN
      PERFORM messor.make_partitions(log);
    EXCEPTION WHEN lock_not_available THEN
      RAISE NOTICE '% is in use; its partitions are made later', log;
    END;
  END LOOP;
END $$;
CREATE FUNCTION messor.make_partitions(log text, ahead integer DEFAULT 3) RETURNS void
    LANGUAGE plpgsql
    SET "TimeZone" TO 'UTC'
    AS $_$
DECLARE
  month timestamptz;
  part text;
  span text;
  strays boolean;
BEGIN
  IF to_regclass(format('messor.%I', log || '_other')) IS NULL THEN
    EXECUTE format('CREATE TABLE messor.%I PARTITION OF messor.%I DEFAULT', log || '_other', log);
  END IF;
  FOR month IN
    SELECT generate_series(date_trunc('month', messor.clock()) - interval '1 month',
                           date_trunc('month', messor.clock()) + make_interval(months => ahead),
                           interval '1 month')
  LOOP
    part := log || to_char(month, '_YYYY_MM');
    -- Asked first: CREATE … IF NOT EXISTS would lock the log even when there is nothing to do.
    CONTINUE WHEN to_regclass(format('messor.%I', part)) IS NOT NULL;
    span := format('FROM (%L) TO (%L)', month, month + interval '1 month');
    EXECUTE format('SELECT EXISTS (SELECT FROM messor.%I WHERE %s >= $1 AND %2$s < $2)', log || '_other',
                   messor.partition_key(log)) INTO strays USING month, month + interval '1 month';
    IF strays THEN
      EXECUTE format('LOCK TABLE messor.%I IN ACCESS EXCLUSIVE MODE', log || '_other');
      EXECUTE format('CREATE TABLE messor.%I (LIKE messor.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)',
                     part, log);
      EXECUTE format('WITH moved AS (DELETE FROM messor.%I WHERE %s >= $1 AND %2$s < $2 RETURNING *)
                      INSERT INTO messor.%I SELECT * FROM moved', log || '_other',
                     messor.partition_key(log), part) USING month, month + interval '1 month';
      EXECUTE format('ALTER TABLE messor.%I ATTACH PARTITION messor.%I FOR VALUES %s', log, part, span);
    ELSE
      EXECUTE format('CREATE TABLE messor.%I PARTITION OF messor.%I FOR VALUES %s', part, log, span);
    END IF;
  END LOOP;
END $_$;
CREATE FUNCTION messor.may_visit(status text, active boolean, preflight boolean) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$
  SELECT active AND (status = 'approved' OR (status = 'pending_review' AND preflight))
$$;
CREATE FUNCTION messor.mended() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO messor.extraction_due (page_id, snapshot_id)
  SELECT t.page_id, t.snapshot_id FROM messor.crawl_tasks t
   WHERE t.page_id = NEW.page_id AND t.snapshot_id = NEW.id;
  INSERT INTO messor.spare_records (page_id, segment_id, segment_offset, segment_length)
  VALUES (OLD.page_id, coalesce(OLD.revisit_segment_id, OLD.segment_id),
          coalesce(OLD.revisit_offset, OLD.segment_offset),
          coalesce(OLD.revisit_length, OLD.segment_length)) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE FUNCTION messor.note_hints() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO messor.job_outbox (job_id, job_type, due_at)
  SELECT id, job_type, available_at FROM asked
   WHERE state = 'queued' AND job_type <> 'extract_ai'
     AND EXISTS (SELECT FROM messor.outbox_relay
                  WHERE expires_at > (SELECT messor.clock()) - interval '1 hour');
  RETURN NULL;
END $$;
CREATE FUNCTION messor.pages_go_with_hosts() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  DELETE FROM messor.pages WHERE host_id = ANY (ARRAY(SELECT id FROM removed));
  RETURN NULL;
END $$;
CREATE FUNCTION messor.pages_need_hosts() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
  wanted bigint[] := ARRAY(SELECT DISTINCT host_id FROM added);
  held integer;
BEGIN
  PERFORM FROM messor.hosts WHERE id = ANY (wanted) ORDER BY id FOR KEY SHARE;
  GET DIAGNOSTICS held = ROW_COUNT;
  IF held < cardinality(wanted) THEN
    RAISE foreign_key_violation USING MESSAGE = 'a page needs its host', TABLE = 'pages';
  END IF;
  RETURN NULL;
END $$;
CREATE FUNCTION messor.partition_key(log text) RETURNS text
    LANGUAGE sql STABLE
    AS $$
  SELECT substring(pg_get_partkeydef(format('messor.%I', log)::regclass) FROM '\((.*)\)')
$$;
CREATE FUNCTION messor.person_key(who text) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $$
  SELECT encode(sha256(convert_to(lower(btrim(who)), 'UTF8')), 'hex')
$$;
CREATE FUNCTION messor.reap_workers() RETURNS integer
    LANGUAGE plpgsql
    AS $$
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
CREATE FUNCTION messor.refuse_another_key() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  RAISE foreign_key_violation
    USING MESSAGE = format('a row of %s stays where it is', TG_TABLE_NAME), TABLE = TG_TABLE_NAME;
END $$;
CREATE FUNCTION messor.risk_at(score real, scored_at timestamp with time zone, t timestamp with time zone) RETURNS real
    LANGUAGE sql IMMUTABLE
    AS $$
  SELECT CASE WHEN coalesce(score, 0) = 0 OR scored_at IS NULL THEN 0
              ELSE score * power(0.9, greatest(extract(epoch FROM t - scored_at), 0) / 86400.0)
         END::real
$$;
CREATE FUNCTION messor.risk_delay(risk real) RETURNS real
    LANGUAGE sql IMMUTABLE
    AS $$
  SELECT CASE WHEN risk > 50 THEN 2.0 WHEN risk > 20 THEN 1.2 ELSE 0 END::real
$$;
CREATE FUNCTION messor.risk_level(risk real) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $$
  SELECT CASE WHEN risk > 80 THEN 'critical' WHEN risk > 50 THEN 'high' WHEN risk > 20 THEN 'medium'
              ELSE 'low' END
$$;
CREATE FUNCTION messor.search_words(config text, title text, about text, body text) RETURNS tsvector
    LANGUAGE plpgsql IMMUTABLE
    AS $$
BEGIN
  RETURN setweight(to_tsvector(config::regconfig, messor.fold(coalesce(left(title, 1000), ''))), 'A')
      || setweight(to_tsvector(config::regconfig, messor.fold(coalesce(left(about, 5000), ''))), 'B')
      || setweight(to_tsvector(config::regconfig, messor.fold(coalesce(left(body, 100000), ''))), 'D');
EXCEPTION WHEN program_limit_exceeded THEN
  RETURN setweight(to_tsvector(config::regconfig, messor.fold(coalesce(left(title, 1000), ''))), 'A')
      || setweight(to_tsvector(config::regconfig, messor.fold(coalesce(left(body, 10000), ''))), 'D');
END $$;
CREATE FUNCTION messor.settle_addresses(worker bigint, host_ids bigint[], tokens bigint[], addresses text[], address_slots integer) RETURNS TABLE(host_id bigint, slots smallint)
    LANGUAGE plpgsql
    AS $$
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
CREATE FUNCTION messor.stamp_pace() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  NEW.paced_at := messor.clock();
  RETURN NEW;
END $$;
CREATE FUNCTION messor.tasks_go_with_pages() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  DELETE FROM messor.crawl_tasks WHERE page_id = ANY (ARRAY(SELECT id FROM removed));
  RETURN NULL;
END $$;
CREATE FUNCTION messor.tasks_need_pages() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
  wanted bigint[] := ARRAY(SELECT page_id FROM added);
  own integer;
  held integer;
BEGIN
  SELECT count(*) INTO own FROM messor.pages
   WHERE id = ANY (wanted) AND xmin = pg_current_xact_id()::xid;
  IF own < cardinality(wanted) THEN
    PERFORM FROM messor.pages WHERE id = ANY (wanted) ORDER BY id FOR KEY SHARE;
    GET DIAGNOSTICS held = ROW_COUNT;
    IF held < cardinality(wanted) THEN
      RAISE foreign_key_violation USING MESSAGE = 'a task needs its page', TABLE = 'crawl_tasks';
    END IF;
  END IF;
  RETURN NULL;
END $$;
CREATE FUNCTION messor.tell_of_events() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  NOTIFY messor_events;
  RETURN NULL;
END $$;
CREATE FUNCTION messor.text_config(language text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  SELECT CASE substring(lower(btrim(language)) FROM '^[a-z]{2,3}')
    WHEN 'ar' THEN 'arabic' WHEN 'ca' THEN 'catalan' WHEN 'da' THEN 'danish' WHEN 'de' THEN 'german'
    WHEN 'el' THEN 'greek' WHEN 'en' THEN 'english' WHEN 'es' THEN 'spanish' WHEN 'eu' THEN 'basque'
    WHEN 'fi' THEN 'finnish' WHEN 'fr' THEN 'french' WHEN 'ga' THEN 'irish' WHEN 'hi' THEN 'hindi'
    WHEN 'hu' THEN 'hungarian' WHEN 'hy' THEN 'armenian' WHEN 'id' THEN 'indonesian'
    WHEN 'it' THEN 'italian' WHEN 'lt' THEN 'lithuanian' WHEN 'nb' THEN 'norwegian'
    WHEN 'ne' THEN 'nepali' WHEN 'nl' THEN 'dutch' WHEN 'nn' THEN 'norwegian'
    WHEN 'no' THEN 'norwegian' WHEN 'pt' THEN 'portuguese' WHEN 'ro' THEN 'romanian'
    WHEN 'ru' THEN 'russian' WHEN 'sr' THEN 'serbian' WHEN 'sv' THEN 'swedish' WHEN 'ta' THEN 'tamil'
    WHEN 'tr' THEN 'turkish' WHEN 'yi' THEN 'yiddish' ELSE 'simple' END
$$;
CREATE FUNCTION messor.want_search() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO messor.search_due (page_id) SELECT page_id FROM extracted ORDER BY page_id;
  RETURN NULL;
END $$;
CREATE TABLE messor.ai_calls (
    id bigint NOT NULL,
    input_hash bytea NOT NULL,
    purpose text NOT NULL,
    model text NOT NULL,
    prompt_version text NOT NULL,
    page_id bigint,
    snapshot_id bigint,
    domain text NOT NULL COLLATE pg_catalog."C",
    job text NOT NULL COLLATE pg_catalog."C",
    month date NOT NULL,
    ending text DEFAULT 'asked'::text NOT NULL,
    detail text DEFAULT ''::text NOT NULL,
    tokens bigint NOT NULL,
    cost numeric NOT NULL,
    prompt_tokens bigint,
    completion_tokens bigint,
    answer jsonb,
    unverified jsonb DEFAULT '[]'::jsonb NOT NULL,
    asked_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT ai_calls_ending_check CHECK ((ending = ANY (ARRAY['asked'::text, 'answered'::text, 'refused'::text, 'bad_answer'::text, 'truncated'::text, 'timed_out'::text, 'overloaded'::text, 'unreachable'::text, 'rejected'::text, 'lost'::text]))),
    CONSTRAINT ai_calls_input_hash_check CHECK ((length(input_hash) = 32))
);
ALTER TABLE messor.ai_calls ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME messor.ai_calls_id_seq);
CREATE TABLE messor.ai_usage (
    scope text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    month date NOT NULL,
    calls bigint DEFAULT 0 NOT NULL,
    tokens bigint DEFAULT 0 NOT NULL,
    cost numeric DEFAULT 0 NOT NULL,
    used_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    CONSTRAINT ai_usage_cost_check CHECK ((cost >= (0)::numeric)),
    CONSTRAINT ai_usage_scope_check CHECK ((scope = ANY (ARRAY['domain'::text, 'job'::text, 'month'::text]))),
    CONSTRAINT ai_usage_tokens_check CHECK ((tokens >= 0))
)
WITH (fillfactor='80');
CREATE TABLE messor.alarms (
    place text NOT NULL,
    name text NOT NULL,
    said text NOT NULL,
    raised_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    seen_at timestamp with time zone DEFAULT messor.clock() NOT NULL
);
CREATE TABLE messor.alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE messor.api_keys (
    id uuid NOT NULL,
    member_id uuid NOT NULL,
    name text NOT NULL,
    prefix text NOT NULL COLLATE pg_catalog."C",
    secret_hash bytea NOT NULL,
    scopes text[] NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone,
    last_used_address text,
    revoked_at timestamp with time zone,
    revoked_by text,
    CONSTRAINT api_keys_check CHECK ((expires_at > created_at)),
    CONSTRAINT api_keys_check1 CHECK (((revoked_at IS NULL) = (revoked_by IS NULL))),
    CONSTRAINT api_keys_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    CONSTRAINT api_keys_scopes_check CHECK ((cardinality(scopes) > 0)),
    CONSTRAINT api_keys_secret_hash_check CHECK ((length(secret_hash) = 32))
)
WITH (fillfactor='70');
CREATE TABLE messor.barren_pages (
    page_id bigint NOT NULL,
    until timestamp with time zone NOT NULL,
    put_off_at timestamp with time zone DEFAULT messor.clock() NOT NULL
);
CREATE TABLE messor.batch_errors (
    batch_id uuid NOT NULL,
    line integer NOT NULL,
    text text NOT NULL,
    reason text NOT NULL
);
CREATE TABLE messor.batch_pages (
    batch_id uuid NOT NULL,
    page_id bigint NOT NULL,
    line integer NOT NULL
);
CREATE TABLE messor.blanks (
    segment_id bigint NOT NULL,
    segment_offset bigint NOT NULL,
    segment_length integer NOT NULL,
    asked_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    blanked_at timestamp with time zone
);
CREATE TABLE messor.candidates (
    id uuid NOT NULL,
    session_id uuid NOT NULL,
    vertical_id uuid NOT NULL,
    domain_id uuid,
    domain text NOT NULL COLLATE pg_catalog."C",
    url text NOT NULL COLLATE pg_catalog."C",
    url_hash bytea NOT NULL,
    title text DEFAULT ''::text NOT NULL,
    snippet text DEFAULT ''::text NOT NULL,
    search_engine text NOT NULL COLLATE pg_catalog."C",
    search_query text NOT NULL,
    "position" integer NOT NULL,
    confidence_score double precision NOT NULL,
    status text NOT NULL,
    organisation_name text,
    program_name text,
    validation_notes jsonb NOT NULL,
    assigned_to text,
    reviewed_by text,
    reviewed_at timestamp with time zone,
    review_reason text,
    created_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    updated_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    page_id bigint,
    submitted_at timestamp with time zone,
    crawled_at timestamp with time zone,
    crawl_note text,
    crawl_failures integer DEFAULT 0 NOT NULL,
    retry_after timestamp with time zone,
    CONSTRAINT candidates_assigned CHECK (((status <> 'IN_REVIEW'::text) OR (assigned_to IS NOT NULL))),
    CONSTRAINT candidates_confidence_score_check CHECK (((confidence_score >= (0)::double precision) AND (confidence_score <= (1)::double precision))),
    CONSTRAINT candidates_crawl_failures_check CHECK ((crawl_failures >= 0)),
    CONSTRAINT candidates_domain_check CHECK (((domain = lower(domain)) AND (domain ~ '^[^./:@?#\s]+(\.[^./:@?#\s]+)+$'::text))),
    CONSTRAINT candidates_note CHECK (((retry_after IS NULL) OR (btrim(COALESCE(crawl_note, ''::text)) <> ''::text))),
    CONSTRAINT candidates_position_check CHECK (("position" > 0)),
    CONSTRAINT candidates_rejected CHECK (((status <> 'REJECTED'::text) OR (btrim(COALESCE(review_reason, ''::text)) <> ''::text))),
    CONSTRAINT candidates_reviewed CHECK (((status = ANY (ARRAY['APPROVED'::text, 'REJECTED'::text])) = (reviewed_at IS NOT NULL))),
    CONSTRAINT candidates_status_check CHECK ((status = ANY (ARRAY['PENDING_CRAWL'::text, 'PENDING_REVIEW'::text, 'IN_REVIEW'::text, 'APPROVED'::text, 'REJECTED'::text, 'SKIPPED_LOW_CONFIDENCE'::text]))),
    CONSTRAINT candidates_threshold CHECK (((status = 'SKIPPED_LOW_CONFIDENCE'::text) = (confidence_score < (0.6)::double precision))),
    CONSTRAINT candidates_url_hash_check CHECK ((length(url_hash) = 32))
);
CREATE TABLE messor.records (
    id bigint NOT NULL,
    page_id bigint NOT NULL,
    snapshot_id bigint NOT NULL,
    domain_id uuid NOT NULL,
    kind text NOT NULL,
    identity text NOT NULL COLLATE pg_catalog."C",
    state text DEFAULT 'current'::text NOT NULL,
    confidence real NOT NULL,
    parser text NOT NULL,
    parser_version text NOT NULL,
    data jsonb NOT NULL,
    fields jsonb NOT NULL,
    content_hash bytea NOT NULL,
    first_seen timestamp with time zone NOT NULL,
    last_seen timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    removed_at timestamp with time zone,
    CONSTRAINT records_confidence_check CHECK (((confidence >= (0)::double precision) AND (confidence <= (1)::double precision))),
    CONSTRAINT records_state_check CHECK ((state = ANY (ARRAY['current'::text, 'removed'::text])))
);
CREATE TABLE messor.verticals (
    id uuid NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL,
    version integer NOT NULL,
    on_block text DEFAULT 'respect'::text NOT NULL,
    definition jsonb NOT NULL,
    source text NOT NULL,
    source_hash bytea NOT NULL,
    applied_by text NOT NULL,
    applied_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    created_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    CONSTRAINT verticals_name_check CHECK ((name ~ '^[a-z][a-z0-9_]{0,62}$'::text)),
    CONSTRAINT verticals_on_block_check CHECK ((on_block = ANY (ARRAY['respect'::text, 'failover'::text]))),
    CONSTRAINT verticals_source_hash_check CHECK ((length(source_hash) = 32)),
    CONSTRAINT verticals_title_check CHECK ((btrim(title) <> ''::text)),
    CONSTRAINT verticals_version_check CHECK ((version > 0))
);
CREATE VIEW messor.candidate_records AS
 SELECT c.id AS candidate_id,
    r.id AS record_id,
    r.kind,
    r.confidence,
    r.page_id,
    true AS on_page,
    r.data
   FROM ((messor.candidates c
     JOIN messor.verticals v ON ((v.id = c.vertical_id)))
     JOIN messor.records r ON (((r.page_id = c.page_id) AND (r.state = 'current'::text))))
  WHERE ((c.crawled_at IS NOT NULL) AND ((r.kind = ANY (ARRAY['organisation'::text, 'contact'::text])) OR ((v.definition -> 'record_kinds'::text) ? r.kind)))
UNION ALL
 SELECT c.id AS candidate_id,
    r.id AS record_id,
    r.kind,
    r.confidence,
    r.page_id,
    false AS on_page,
    r.data
   FROM (messor.candidates c
     JOIN messor.records r ON (((r.domain_id = c.domain_id) AND (r.state = 'current'::text) AND (r.kind = ANY (ARRAY['organisation'::text, 'contact'::text])) AND (r.page_id <> c.page_id))))
  WHERE (c.crawled_at IS NOT NULL);
CREATE TABLE messor.class_lessons (
    feature text NOT NULL COLLATE pg_catalog."C",
    class text NOT NULL COLLATE pg_catalog."C",
    domains integer NOT NULL,
    CONSTRAINT class_lessons_domains_check CHECK ((domains >= 0))
);
CREATE TABLE messor.organisations (
    id uuid NOT NULL,
    vertical_id uuid NOT NULL,
    name text NOT NULL,
    name_key text NOT NULL COLLATE pg_catalog."C",
    location text,
    external_id text,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    updated_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    CONSTRAINT organisations_external_id_check CHECK ((length(external_id) <= 200)),
    CONSTRAINT organisations_location_check CHECK ((length(location) <= 300)),
    CONSTRAINT organisations_name_check CHECK (((btrim(name) <> ''::text) AND (length(name) <= 300)))
);
CREATE VIEW messor.clinics AS
 SELECT o.id,
    o.vertical_id,
    o.name,
    o.name_key,
    o.location,
    o.external_id,
    o.created_by,
    o.created_at,
    o.updated_at,
    v.name AS vertical
   FROM (messor.organisations o
     JOIN messor.verticals v ON ((v.id = o.vertical_id)))
  WHERE (v.name = 'wellness'::text);
CREATE TABLE messor.clock_watch (
    id boolean DEFAULT true NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    ahead_from timestamp with time zone,
    CONSTRAINT clock_watch_id_check CHECK (id)
)
WITH (fillfactor='50');
CREATE VIEW messor.contact_intelligence AS
 SELECT candidate_id,
    record_id,
    confidence,
    page_id,
    on_page,
    data
   FROM messor.candidate_records
  WHERE (kind = 'contact'::text);
CREATE TABLE messor.corrections (
    id bigint NOT NULL,
    record_id bigint NOT NULL,
    snapshot_id bigint NOT NULL,
    domain_id uuid NOT NULL,
    kind text NOT NULL,
    field text NOT NULL,
    found text,
    correct text,
    said_by text NOT NULL,
    said_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    CONSTRAINT corrections_correct_check CHECK (((correct <> ''::text) AND (length(correct) <= 4000)))
);
ALTER TABLE messor.corrections ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME messor.corrections_id_seq);
CREATE TABLE messor.crawl_run_pages (
    run_id uuid NOT NULL,
    page_id bigint NOT NULL,
    depth smallint NOT NULL,
    fetched boolean NOT NULL,
    expanded boolean DEFAULT false NOT NULL,
    due_before timestamp with time zone
);
CREATE TABLE messor.crawl_runs (
    id uuid NOT NULL,
    domain_id uuid NOT NULL,
    url text NOT NULL,
    page_id bigint NOT NULL,
    started_by text NOT NULL,
    bounded boolean NOT NULL,
    sitemaps boolean DEFAULT false NOT NULL,
    max_depth smallint,
    max_pages integer,
    delay real,
    refetch boolean DEFAULT false NOT NULL,
    status text DEFAULT 'running'::text NOT NULL,
    started_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    seen_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    ended_at timestamp with time zone,
    left_out integer DEFAULT 0 NOT NULL,
    CONSTRAINT crawl_runs_status_check CHECK ((status = ANY (ARRAY['running'::text, 'done'::text, 'interrupted'::text])))
);
CREATE TABLE messor.crawl_tasks (
    page_id bigint NOT NULL,
    host_id bigint NOT NULL,
    kind text DEFAULT 'page'::text NOT NULL,
    priority smallint DEFAULT 5 NOT NULL,
    due_at timestamp with time zone,
    status text DEFAULT 'pending'::text NOT NULL,
    outcome text,
    retry_count smallint DEFAULT 0 NOT NULL,
    max_retries smallint DEFAULT 3 NOT NULL,
    crawl_frequency interval,
    last_fetched_at timestamp with time zone,
    completed_at timestamp with time zone,
    last_status smallint,
    snapshot_id bigint,
    raw_hash bytea,
    etag text,
    last_modified text,
    refusal text,
    error_message text,
    provider text,
    deaths smallint DEFAULT 0 NOT NULL,
    held_due_at timestamp with time zone,
    history integer DEFAULT 1 NOT NULL,
    wire_tag bigint,
    CONSTRAINT crawl_tasks_held CHECK (((status <> ALL (ARRAY['paused'::text, 'cancelled'::text])) OR (due_at IS NULL))),
    CONSTRAINT crawl_tasks_history_check CHECK (((history >= 1) AND (history <= 131071))),
    CONSTRAINT crawl_tasks_kind_check CHECK ((kind = ANY (ARRAY['page'::text, 'robots'::text, 'sitemap'::text, 'image'::text, 'preflight'::text, 'render'::text]))),
    CONSTRAINT crawl_tasks_priority_check CHECK (((priority >= 0) AND (priority <= 10))),
    CONSTRAINT crawl_tasks_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'completed'::text, 'failed'::text, 'paused'::text, 'cancelled'::text])))
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_cost_delay='0');
CREATE TABLE messor.domains (
    id uuid NOT NULL,
    domain text NOT NULL COLLATE pg_catalog."C",
    base_url text NOT NULL,
    status text DEFAULT 'pending_review'::text NOT NULL,
    processing text DEFAULT 'discovered'::text NOT NULL,
    submitted_by text NOT NULL,
    submitter_type text NOT NULL,
    submission_context text,
    reviewed_by text,
    reviewed_at timestamp with time zone,
    rejection_reason text,
    max_crawl_depth smallint DEFAULT 3 NOT NULL,
    page_budget integer DEFAULT 10000 NOT NULL,
    crawl_delay_seconds real,
    max_concurrent_requests smallint DEFAULT 5 NOT NULL,
    scrape_frequency_hours integer,
    track_level text,
    is_trusted_domain boolean DEFAULT false NOT NULL,
    domain_class text DEFAULT 'unknown'::text NOT NULL,
    active boolean DEFAULT true NOT NULL,
    policy_version integer DEFAULT 1 NOT NULL,
    pages_known integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    updated_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    main_host_id bigint,
    harvest text DEFAULT 'site'::text NOT NULL,
    on_block text DEFAULT 'respect'::text NOT NULL,
    render text DEFAULT 'auto'::text NOT NULL,
    directives text DEFAULT 'respect'::text NOT NULL,
    reservations text DEFAULT 'record'::text NOT NULL,
    robots_forbidden text DEFAULT 'allow'::text NOT NULL,
    proxies text DEFAULT 'none'::text NOT NULL,
    verify_tls boolean DEFAULT true NOT NULL,
    paused boolean DEFAULT false NOT NULL,
    review_reason text,
    discovery_session_id uuid,
    last_processed_at timestamp with time zone,
    processing_count integer DEFAULT 0 NOT NULL,
    best_confidence_score double precision,
    high_quality_candidate_count integer DEFAULT 0 NOT NULL,
    low_quality_candidate_count integer DEFAULT 0 NOT NULL,
    no_funds_year integer,
    failure_reason text,
    failure_count integer DEFAULT 0 NOT NULL,
    retry_after timestamp with time zone,
    vertical_on_block text,
    CONSTRAINT domains_best_confidence_score_check CHECK (((best_confidence_score >= (0)::double precision) AND (best_confidence_score <= (1)::double precision))),
    CONSTRAINT domains_check CHECK (((status <> ALL (ARRAY['rejected'::text, 'blacklisted'::text])) OR (COALESCE(rejection_reason, ''::text) <> ''::text))),
    CONSTRAINT domains_check1 CHECK (((status = ANY (ARRAY['pending_review'::text, 'blacklisted'::text])) OR (reviewed_at IS NOT NULL))),
    CONSTRAINT domains_crawl_delay_seconds_check CHECK ((crawl_delay_seconds >= (0)::double precision)),
    CONSTRAINT domains_directives_check CHECK ((directives = ANY (ARRAY['respect'::text, 'ignore'::text]))),
    CONSTRAINT domains_domain_check CHECK (((domain <> ''::text) AND (domain = lower(domain)))),
    CONSTRAINT domains_failed CHECK (((processing <> 'processing_failed'::text) OR ((btrim(COALESCE(failure_reason, ''::text), E' \t\r\n') <> ''::text) AND (retry_after IS NOT NULL) AND (failure_count > 0)))),
    CONSTRAINT domains_failure_count_check CHECK ((failure_count >= 0)),
    CONSTRAINT domains_harvest_check CHECK ((harvest = ANY (ARRAY['site'::text, 'asked'::text]))),
    CONSTRAINT domains_high CHECK (((processing <> 'processed_high_quality'::text) OR (high_quality_candidate_count > 0))),
    CONSTRAINT domains_high_quality_candidate_count_check CHECK ((high_quality_candidate_count >= 0)),
    CONSTRAINT domains_low CHECK (((processing <> 'processed_low_quality'::text) OR ((low_quality_candidate_count >= 3) AND (high_quality_candidate_count = 0)))),
    CONSTRAINT domains_low_quality_candidate_count_check CHECK ((low_quality_candidate_count >= 0)),
    CONSTRAINT domains_max_concurrent_requests_check CHECK (((max_concurrent_requests >= 1) AND (max_concurrent_requests <= 1000))),
    CONSTRAINT domains_max_crawl_depth_check CHECK (((max_crawl_depth >= 0) AND (max_crawl_depth <= 100))),
    CONSTRAINT domains_no_funds CHECK (((processing <> 'no_funds_this_year'::text) OR (no_funds_year IS NOT NULL))),
    CONSTRAINT domains_no_funds_year_check CHECK (((no_funds_year >= 2020) AND (no_funds_year <= 2100))),
    CONSTRAINT domains_on_block_check CHECK ((on_block = ANY (ARRAY['respect'::text, 'failover'::text]))),
    CONSTRAINT domains_page_budget_check CHECK ((page_budget > 0)),
    CONSTRAINT domains_processing_check CHECK ((processing = ANY (ARRAY['discovered'::text, 'processing'::text, 'processed_high_quality'::text, 'processed_low_quality'::text, 'no_funds_this_year'::text, 'processing_failed'::text]))),
    CONSTRAINT domains_processing_count_check CHECK ((processing_count >= 0)),
    CONSTRAINT domains_proxies_check CHECK ((proxies = ANY (ARRAY['none'::text, 'pool'::text]))),
    CONSTRAINT domains_reason CHECK (((status <> ALL (ARRAY['rejected'::text, 'blacklisted'::text])) OR (btrim(rejection_reason, E' \t\r\n') <> ''::text))),
    CONSTRAINT domains_render_check CHECK ((render = ANY (ARRAY['auto'::text, 'never'::text]))),
    CONSTRAINT domains_reservations_check CHECK ((reservations = ANY (ARRAY['record'::text, 'respect'::text]))),
    CONSTRAINT domains_robots_forbidden_check CHECK ((robots_forbidden = ANY (ARRAY['allow'::text, 'deny'::text]))),
    CONSTRAINT domains_scrape_frequency_hours_check CHECK ((scrape_frequency_hours > 0)),
    CONSTRAINT domains_status_check CHECK ((status = ANY (ARRAY['pending_review'::text, 'approved'::text, 'rejected'::text, 'suspended'::text, 'blacklisted'::text]))),
    CONSTRAINT domains_submitter_type_check CHECK ((submitter_type = ANY (ARRAY['admin'::text, 'public_user'::text, 'system'::text]))),
    CONSTRAINT domains_track_level_check CHECK ((track_level = ANY (ARRAY['A'::text, 'B'::text, 'C'::text, 'D'::text]))),
    CONSTRAINT domains_trust CHECK (((NOT is_trusted_domain) OR (status = ANY (ARRAY['approved'::text, 'suspended'::text])))),
    CONSTRAINT domains_vertical_on_block_check CHECK ((vertical_on_block = ANY (ARRAY['respect'::text, 'failover'::text])))
);
CREATE TABLE messor.hosts (
    id bigint NOT NULL,
    domain_id uuid NOT NULL,
    host text NOT NULL COLLATE pg_catalog."C",
    risk_score real DEFAULT 0 NOT NULL,
    risk_at timestamp with time zone,
    cooldown_until timestamp with time zone,
    cooldown_reason text,
    robots_id bigint,
    robots_checked_at timestamp with time zone,
    last_request_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    updated_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    latency real,
    refusals smallint DEFAULT 0 NOT NULL,
    caged boolean DEFAULT false NOT NULL,
    scheme text,
    other_robots_id bigint,
    spoke_https boolean DEFAULT false NOT NULL,
    https_error text,
    CONSTRAINT hosts_risk_score_check CHECK (((risk_score >= (0)::double precision) AND (risk_score <= (100)::double precision))),
    CONSTRAINT hosts_scheme_check CHECK ((scheme = ANY (ARRAY['https'::text, 'http'::text])))
)
WITH (fillfactor='80');
CREATE TABLE messor.lanes (
    host_id bigint NOT NULL,
    domain_id uuid NOT NULL,
    address text COLLATE pg_catalog."C",
    ready_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    due_at timestamp with time zone,
    claim_at timestamp with time zone,
    worker_id bigint,
    token bigint DEFAULT 0 NOT NULL,
    slots smallint DEFAULT 0 NOT NULL,
    delay real DEFAULT 1 NOT NULL,
    claimed_at timestamp with time zone,
    slow boolean DEFAULT false NOT NULL,
    mode_delay real,
    mode_until timestamp with time zone,
    assisted_until timestamp with time zone,
    recall bigint,
    preflight boolean DEFAULT false NOT NULL,
    paced_at timestamp with time zone DEFAULT messor.clock()
)
WITH (fillfactor='50', autovacuum_vacuum_threshold='500', autovacuum_vacuum_scale_factor='0.02');
CREATE TABLE messor.pages (
    id bigint NOT NULL,
    host_id bigint NOT NULL,
    url_hash bytea NOT NULL,
    url text NOT NULL COLLATE pg_catalog."C",
    found_by text NOT NULL,
    found_on bigint,
    depth smallint DEFAULT 0 NOT NULL,
    hops smallint DEFAULT 0 NOT NULL,
    category text,
    found_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    sitemap_lastmod timestamp with time zone,
    CONSTRAINT pages_found_by_check CHECK ((found_by = ANY (ARRAY['seed'::text, 'robots'::text, 'sitemap'::text, 'link'::text, 'redirect'::text, 'manual'::text])))
);
CREATE VIEW messor.crawl_task_status AS
 SELECT t.page_id,
    t.host_id,
    h.domain_id,
    p.url,
    encode(p.url_hash, 'hex'::text) AS url_hash,
    t.kind,
        CASE
            WHEN (t.status = ANY (ARRAY['paused'::text, 'cancelled'::text])) THEN t.status
            WHEN ((NOT d.active) AND (t.due_at IS NOT NULL)) THEN 'paused'::text
            WHEN ((t.status <> 'pending'::text) AND (t.due_at > messor.clock())) THEN t.status
            WHEN ((l.worker_id IS NOT NULL) AND (t.due_at <= messor.clock())) THEN 'crawling'::text
            WHEN (t.due_at <= messor.clock()) THEN 'queued'::text
            ELSE t.status
        END AS status,
    t.outcome,
    t.priority,
    COALESCE(t.due_at, t.held_due_at) AS scheduled_at,
    t.due_at AS next_crawl_at,
    t.retry_count,
    t.max_retries,
    t.crawl_frequency,
    t.last_fetched_at AS last_crawled_at,
    t.completed_at,
    t.last_status AS last_http_status,
    t.refusal,
    t.error_message,
    t.history,
    d.track_level,
    d.scrape_frequency_hours
   FROM ((((messor.crawl_tasks t
     JOIN messor.pages p ON ((p.id = t.page_id)))
     JOIN messor.hosts h ON ((h.id = t.host_id)))
     JOIN messor.lanes l ON ((l.host_id = t.host_id)))
     JOIN messor.domains d ON ((d.id = h.domain_id)));
CREATE TABLE messor.decisions (
    decided_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    page_id bigint NOT NULL,
    verdict text NOT NULL,
    rule text NOT NULL,
    reason text NOT NULL,
    policy_version integer NOT NULL,
    robots_id bigint,
    CONSTRAINT decisions_verdict_check CHECK ((verdict = ANY (ARRAY['denied'::text, 'deferred'::text])))
)
PARTITION BY RANGE (decided_at);
CREATE TABLE messor.default_views (
    member_id uuid NOT NULL,
    list text NOT NULL COLLATE pg_catalog."C",
    view_id uuid NOT NULL
);
CREATE TABLE messor.discovery_sessions (
    id uuid NOT NULL,
    vertical_id uuid NOT NULL,
    vertical_version integer NOT NULL,
    state text DEFAULT 'running'::text NOT NULL,
    started_by text NOT NULL,
    started_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    finished_at timestamp with time zone,
    said text,
    statistics jsonb,
    CONSTRAINT discovery_sessions_check CHECK (((state = 'running'::text) = (finished_at IS NULL))),
    CONSTRAINT discovery_sessions_check1 CHECK (((state <> 'failed'::text) OR (btrim(COALESCE(said, ''::text)) <> ''::text))),
    CONSTRAINT discovery_sessions_state_check CHECK ((state = ANY (ARRAY['running'::text, 'finished'::text, 'failed'::text, 'cancelled'::text]))),
    CONSTRAINT discovery_sessions_vertical_version_check CHECK ((vertical_version > 0))
);
CREATE TABLE messor.domain_notes (
    id uuid NOT NULL,
    domain_id uuid NOT NULL,
    author text NOT NULL,
    body text NOT NULL,
    created_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    CONSTRAINT domain_notes_body_check CHECK (((btrim(body, E' \t\r\n') <> ''::text) AND (length(body) <= 10000)))
);
CREATE VIEW messor.domain AS
 SELECT id AS domain_id,
    domain AS domain_name,
        CASE
            WHEN (status = 'blacklisted'::text) THEN 'BLACKLISTED'::text
            ELSE upper(processing)
        END AS status,
    created_at AS discovered_at,
    discovery_session_id,
    last_processed_at,
    processing_count,
    best_confidence_score,
    high_quality_candidate_count,
    low_quality_candidate_count,
        CASE
            WHEN (status = 'blacklisted'::text) THEN reviewed_by
            ELSE NULL::text
        END AS blacklisted_by,
        CASE
            WHEN (status = 'blacklisted'::text) THEN reviewed_at
            ELSE NULL::timestamp with time zone
        END AS blacklisted_at,
        CASE
            WHEN (status = 'blacklisted'::text) THEN rejection_reason
            ELSE NULL::text
        END AS blacklist_reason,
    no_funds_year,
    ( SELECT string_agg(n.body, '
'::text ORDER BY n.created_at) AS string_agg
           FROM messor.domain_notes n
          WHERE (n.domain_id = d.id)) AS notes,
    failure_reason,
    failure_count,
    retry_after
   FROM messor.domains d;
CREATE TABLE messor.domain_classes (
    domain text NOT NULL COLLATE pg_catalog."C",
    class text NOT NULL COLLATE pg_catalog."C",
    confidence double precision NOT NULL,
    reasons jsonb DEFAULT '[]'::jsonb NOT NULL,
    features text[] DEFAULT '{}'::text[] NOT NULL,
    decided_by text,
    decided_reason text,
    reckoned text COLLATE pg_catalog."C",
    classified_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    CONSTRAINT domain_classes_check CHECK (((decided_by IS NULL) OR (confidence = (1)::double precision))),
    CONSTRAINT domain_classes_confidence_check CHECK (((confidence >= (0)::double precision) AND (confidence <= (1)::double precision))),
    CONSTRAINT domain_classes_domain_check CHECK (((domain <> ''::text) AND (domain = lower(domain))))
);
CREATE TABLE messor.friction_log (
    occurred_at timestamp with time zone NOT NULL,
    host_id bigint NOT NULL,
    page_id bigint,
    signal text NOT NULL,
    points real NOT NULL,
    score real NOT NULL
)
PARTITION BY RANGE (occurred_at);
CREATE VIEW messor.domain_risk AS
 SELECT host AS hostname,
    (round((messor.risk_at(risk_score, risk_at, messor.clock()))::double precision))::integer AS risk_score,
    COALESCE(( SELECT jsonb_agg(jsonb_build_object('at', f.occurred_at, 'signal', f.signal, 'points', f.points, 'score', f.score) ORDER BY f.occurred_at) AS jsonb_agg
           FROM ( SELECT f_1.occurred_at,
                    f_1.host_id,
                    f_1.page_id,
                    f_1.signal,
                    f_1.points,
                    f_1.score
                   FROM messor.friction_log f_1
                  WHERE (f_1.host_id = h.id)
                  ORDER BY f_1.occurred_at DESC
                 LIMIT 50) f), '[]'::jsonb) AS friction_events,
    last_request_at AS last_fetch_at,
    created_at,
    updated_at
   FROM messor.hosts h;
CREATE TABLE messor.domain_submissions (
    id uuid NOT NULL,
    domain_id uuid NOT NULL,
    submitted_by text NOT NULL,
    submitter_type text NOT NULL,
    contact text,
    context text,
    max_crawl_depth smallint NOT NULL,
    created_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    CONSTRAINT domain_submissions_contact_check CHECK ((length(contact) <= 320)),
    CONSTRAINT domain_submissions_max_crawl_depth_check CHECK (((max_crawl_depth >= 0) AND (max_crawl_depth <= 100))),
    CONSTRAINT domain_submissions_submitter_type_check CHECK ((submitter_type = ANY (ARRAY['admin'::text, 'public_user'::text, 'system'::text])))
);
CREATE TABLE messor.erasures (
    id uuid NOT NULL,
    kind text NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL,
    erased_by text NOT NULL,
    created_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    CONSTRAINT erasures_kind_check CHECK ((kind = ANY (ARRAY['domain'::text, 'url'::text, 'person'::text])))
);
CREATE TABLE messor.error_logs (
    occurred_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    crawl_task_id bigint,
    job_id uuid,
    category text NOT NULL,
    error_type text NOT NULL,
    error_message text NOT NULL,
    stack_trace text,
    detail jsonb
)
PARTITION BY RANGE (occurred_at);
CREATE TABLE messor.events (
    id bigint NOT NULL,
    tx xid8 DEFAULT pg_current_xact_id() NOT NULL,
    occurred_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    type text NOT NULL,
    actor text NOT NULL,
    domain_id uuid,
    page_id bigint,
    data jsonb DEFAULT '{}'::jsonb NOT NULL
)
PARTITION BY RANGE (occurred_at);
ALTER TABLE messor.events ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME messor.events_id_seq);
CREATE TABLE messor.extraction_due (
    id bigint NOT NULL,
    page_id bigint NOT NULL,
    snapshot_id bigint,
    seen_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    due_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    cause text DEFAULT 'page'::text NOT NULL,
    pin text,
    CONSTRAINT extraction_due_cause_check CHECK ((cause = ANY (ARRAY['page'::text, 'parser'::text])))
)
WITH (fillfactor='80', autovacuum_vacuum_threshold='500', autovacuum_vacuum_scale_factor='0.02');
ALTER TABLE messor.extraction_due ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME messor.extraction_due_id_seq);
CREATE TABLE messor.extractions (
    page_id bigint NOT NULL,
    snapshot_id bigint,
    domain_id uuid NOT NULL,
    page_type text,
    page_type_confidence real,
    headline text,
    main_text text,
    markdown text,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    flags jsonb DEFAULT '[]'::jsonb NOT NULL,
    warnings jsonb DEFAULT '[]'::jsonb NOT NULL,
    rejected jsonb DEFAULT '[]'::jsonb NOT NULL,
    records integer DEFAULT 0 NOT NULL,
    last_record_at timestamp with time zone,
    extracted_at timestamp with time zone DEFAULT messor.clock() NOT NULL
);
ALTER TABLE ONLY messor.extractions ALTER COLUMN main_text SET STORAGE EXTERNAL;
ALTER TABLE ONLY messor.extractions ALTER COLUMN markdown SET STORAGE EXTERNAL;
CREATE TABLE messor.fetch_days (
    day date NOT NULL,
    host_id bigint NOT NULL,
    outcome text NOT NULL COLLATE pg_catalog."C",
    fetches integer NOT NULL
)
WITH (fillfactor='80');
CREATE TABLE messor.fetch_minutes (
    minute timestamp with time zone NOT NULL,
    outcome text NOT NULL COLLATE pg_catalog."C",
    fetches integer NOT NULL
);
CREATE TABLE messor.fetch_rollup (
    is_the_one boolean DEFAULT true NOT NULL,
    rolled_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    CONSTRAINT fetch_rollup_is_the_one_check CHECK (is_the_one)
)
WITH (fillfactor='50');
CREATE TABLE messor.flag_decisions (
    id bigint NOT NULL,
    page_id bigint NOT NULL,
    vertical text NOT NULL COLLATE pg_catalog."C",
    domain text NOT NULL COLLATE pg_catalog."C",
    relevant boolean NOT NULL,
    flagged boolean,
    overturned boolean NOT NULL,
    model_version text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    lexical real NOT NULL,
    title text NOT NULL,
    sample text NOT NULL,
    decided_by text NOT NULL,
    decided_at timestamp with time zone DEFAULT messor.clock() NOT NULL
);
ALTER TABLE messor.flag_decisions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME messor.flag_decisions_id_seq);
CREATE TABLE messor.forgotten_pages (
    page_id bigint NOT NULL,
    logs boolean NOT NULL,
    forgotten_at timestamp with time zone DEFAULT messor.clock() NOT NULL
);
CREATE VIEW messor.funding_source_candidate AS
 SELECT id,
    session_id,
    vertical_id,
    domain_id,
    domain,
    url,
    url_hash,
    title,
    snippet,
    search_engine,
    search_query,
    "position",
    confidence_score,
    status,
    organisation_name,
    program_name,
    validation_notes,
    assigned_to,
    reviewed_by,
    reviewed_at,
    review_reason,
    created_at,
    updated_at,
    page_id,
    submitted_at,
    crawled_at,
    crawl_note,
    crawl_failures,
    retry_after,
    id AS candidate_id
   FROM messor.candidates c;
CREATE TABLE messor.geo_sets (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    vertical_id uuid NOT NULL,
    name text NOT NULL,
    modifiers text[] NOT NULL,
    priority_order integer DEFAULT 0 NOT NULL,
    CONSTRAINT geo_sets_modifiers_check CHECK ((cardinality(modifiers) > 0))
);
ALTER TABLE messor.hosts ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME messor.hosts_id_seq);
CREATE TABLE messor.http_fetches (
    id bigint NOT NULL,
    fetched_at timestamp with time zone NOT NULL,
    page_id bigint NOT NULL,
    host_id bigint NOT NULL,
    visit_token bigint NOT NULL,
    outcome text NOT NULL,
    status_code smallint,
    size integer,
    duration_ms integer NOT NULL,
    waited_ms integer NOT NULL,
    fetch_provider text DEFAULT 'http'::text NOT NULL,
    provider_cost numeric,
    quality_gate_failed text,
    rule text NOT NULL,
    policy_version integer NOT NULL,
    robots_id bigint,
    final_url text,
    headers_json jsonb,
    error_json jsonb,
    delay_ms integer,
    proxy_id integer,
    detail jsonb
)
PARTITION BY RANGE (fetched_at);
ALTER TABLE messor.http_fetches ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME messor.http_fetches_id_seq);
CREATE TABLE messor.idempotency_keys (
    owner text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    request_hash bytea NOT NULL,
    status smallint,
    headers jsonb,
    body bytea,
    begun_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    expires_at timestamp with time zone DEFAULT (messor.clock() + '24:00:00'::interval) NOT NULL,
    CONSTRAINT idempotency_keys_key_check CHECK (((length(key) >= 1) AND (length(key) <= 255)))
);
CREATE TABLE messor.product_images (
    id bigint NOT NULL,
    product_id bigint NOT NULL,
    page_id bigint NOT NULL,
    image_url text NOT NULL,
    url_hash bytea NOT NULL,
    image_path text,
    content_hash bytea,
    alt_text text,
    image_type text DEFAULT 'primary'::text NOT NULL,
    "position" integer DEFAULT 0 NOT NULL,
    width integer,
    height integer,
    file_size integer,
    created_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    image_page_id bigint,
    media_type text,
    refusal text,
    refused_at timestamp with time zone,
    moved_to text,
    moves smallint DEFAULT 0 NOT NULL,
    CONSTRAINT product_images_image_type_check CHECK ((image_type = ANY (ARRAY['primary'::text, 'gallery'::text, 'thumbnail'::text])))
);
CREATE VIEW messor.images AS
 SELECT id,
    product_id,
    image_url,
    image_path,
    alt_text,
    image_type,
    "position",
    width,
    height,
    file_size,
    created_at
   FROM messor.product_images;
CREATE TABLE messor.ingestion_pages (
    run_id bigint NOT NULL,
    page_id bigint NOT NULL,
    "position" smallint NOT NULL,
    reason text NOT NULL,
    cached boolean DEFAULT false NOT NULL,
    planned_at timestamp with time zone DEFAULT messor.clock()
);
CREATE TABLE messor.ingestion_runs (
    id bigint NOT NULL,
    trace_id text NOT NULL COLLATE pg_catalog."C",
    orbit_slug text NOT NULL COLLATE pg_catalog."C",
    mode text NOT NULL,
    url text NOT NULL,
    domain_id uuid,
    requested_by text NOT NULL,
    stage text DEFAULT 'discovering'::text NOT NULL,
    started_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    completed_at timestamp with time zone,
    outcome text,
    evidence jsonb,
    CONSTRAINT ingestion_runs_mode_check CHECK ((mode = ANY (ARRAY['light'::text, 'standard'::text, 'user_assisted'::text]))),
    CONSTRAINT ingestion_runs_outcome_check CHECK ((outcome = ANY (ARRAY['success'::text, 'partial'::text, 'blocked'::text, 'error'::text]))),
    CONSTRAINT ingestion_runs_stage_check CHECK ((stage = ANY (ARRAY['discovering'::text, 'fetching'::text, 'done'::text])))
);
ALTER TABLE messor.ingestion_runs ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME messor.ingestion_runs_id_seq);
CREATE TABLE messor.job_outbox (
    id bigint NOT NULL,
    job_id uuid NOT NULL,
    job_type text NOT NULL,
    due_at timestamp with time zone NOT NULL
)
WITH (autovacuum_vacuum_threshold='1000', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_cost_delay='0');
ALTER TABLE messor.job_outbox ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME messor.job_outbox_id_seq);
CREATE TABLE messor.jobs (
    id uuid NOT NULL,
    job_type text NOT NULL,
    target_kind text NOT NULL,
    target_id uuid,
    target_url text,
    input_hash text,
    prompt_version text,
    model text,
    dedupe_key text NOT NULL COLLATE pg_catalog."C",
    state text DEFAULT 'queued'::text NOT NULL,
    payload jsonb DEFAULT '{}'::jsonb NOT NULL,
    result_json jsonb,
    priority smallint DEFAULT 5 NOT NULL,
    available_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    locked_at timestamp with time zone,
    lock_expires_at timestamp with time zone,
    locked_by text,
    token bigint DEFAULT 0 NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    max_attempts smallint DEFAULT 3 NOT NULL,
    created_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    window_ends_at timestamp with time zone DEFAULT (messor.clock() + '31 days'::interval) NOT NULL,
    dead_category text,
    dead_type text,
    dead_reason text,
    CONSTRAINT jobs_priority_check CHECK (((priority >= 1) AND (priority <= 10))),
    CONSTRAINT jobs_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'running'::text, 'done'::text, 'dead'::text, 'cancelled'::text])))
)
WITH (fillfactor='70', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_scale_factor='0.05', autovacuum_analyze_threshold='5000', autovacuum_analyze_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');
CREATE TABLE messor.jobs_history (
    id uuid CONSTRAINT jobs_id_not_null NOT NULL,
    job_type text CONSTRAINT jobs_job_type_not_null NOT NULL,
    target_kind text CONSTRAINT jobs_target_kind_not_null NOT NULL,
    target_id uuid,
    target_url text,
    input_hash text,
    prompt_version text,
    model text,
    dedupe_key text CONSTRAINT jobs_dedupe_key_not_null NOT NULL COLLATE pg_catalog."C",
    state text CONSTRAINT jobs_state_not_null NOT NULL,
    payload jsonb CONSTRAINT jobs_payload_not_null NOT NULL,
    result_json jsonb,
    priority smallint CONSTRAINT jobs_priority_not_null NOT NULL,
    available_at timestamp with time zone CONSTRAINT jobs_available_at_not_null NOT NULL,
    locked_at timestamp with time zone,
    lock_expires_at timestamp with time zone,
    locked_by text,
    token bigint CONSTRAINT jobs_token_not_null NOT NULL,
    attempts smallint CONSTRAINT jobs_attempts_not_null NOT NULL,
    max_attempts smallint CONSTRAINT jobs_max_attempts_not_null NOT NULL,
    created_at timestamp with time zone CONSTRAINT jobs_created_at_not_null NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    window_ends_at timestamp with time zone CONSTRAINT jobs_window_ends_at_not_null NOT NULL,
    dead_category text,
    dead_type text,
    dead_reason text,
    retired_at timestamp with time zone DEFAULT messor.clock() NOT NULL
)
PARTITION BY RANGE (finished_at);
CREATE TABLE messor.judgements (
    candidate_id uuid NOT NULL,
    judge text NOT NULL COLLATE pg_catalog."C",
    score double precision NOT NULL,
    weight double precision DEFAULT 1 NOT NULL,
    explanation text NOT NULL,
    CONSTRAINT judgements_score_check CHECK (((score >= (0)::double precision) AND (score <= (1)::double precision))),
    CONSTRAINT judgements_weight_check CHECK ((weight >= (0)::double precision))
);
CREATE TABLE messor.keyword_templates (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    vertical_id uuid NOT NULL,
    template text NOT NULL,
    geo_set_id uuid,
    language text DEFAULT 'en'::text NOT NULL,
    CONSTRAINT keyword_templates_template_check CHECK ((template ~~ '%{service}%'::text))
);
CREATE TABLE messor.keywords (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    keyword_text text NOT NULL COLLATE pg_catalog."C",
    serp_profile_id uuid NOT NULL,
    vertical_id uuid NOT NULL,
    tier text DEFAULT 'C'::text NOT NULL,
    tier_reason text,
    source text DEFAULT 'manual'::text NOT NULL,
    service_name text,
    seed_keyword_id uuid,
    seed_depth smallint DEFAULT 0 NOT NULL,
    value double precision,
    active boolean DEFAULT true NOT NULL,
    pruned_reason text,
    last_snapshot_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    CONSTRAINT keywords_check CHECK (((seed_keyword_id IS NULL) OR (seed_keyword_id <> id))),
    CONSTRAINT keywords_check1 CHECK ((active OR (pruned_reason IS NOT NULL))),
    CONSTRAINT keywords_keyword_text_check CHECK (((btrim(keyword_text) <> ''::text) AND (length(keyword_text) <= 200))),
    CONSTRAINT keywords_seed_depth_check CHECK (((seed_depth >= 0) AND (seed_depth <= 10))),
    CONSTRAINT keywords_source_check CHECK ((source = ANY (ARRAY['manual'::text, 'template'::text, 'related'::text, 'people_also_ask'::text, 'suggestion'::text]))),
    CONSTRAINT keywords_tier_check CHECK ((tier = ANY (ARRAY['A'::text, 'B'::text, 'C'::text]))),
    CONSTRAINT keywords_value_check CHECK ((value >= (0)::double precision))
);
CREATE TABLE messor.leaders (
    name text NOT NULL COLLATE pg_catalog."C",
    holder text NOT NULL,
    token bigint DEFAULT 1 NOT NULL,
    taken_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    expires_at timestamp with time zone NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE messor.login_challenges (
    token_hash bytea NOT NULL,
    member_id uuid NOT NULL,
    opened_by text NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
CREATE TABLE messor.login_throttles (
    key text NOT NULL COLLATE pg_catalog."C",
    attempts integer NOT NULL,
    attempted_at timestamp with time zone NOT NULL,
    open_at timestamp with time zone NOT NULL,
    is_told boolean DEFAULT false NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE messor.member_identities (
    issuer text NOT NULL,
    subject text NOT NULL,
    member_id uuid NOT NULL,
    linked_at timestamp with time zone DEFAULT messor.clock() NOT NULL
);
CREATE TABLE messor.members (
    id uuid NOT NULL,
    email text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    role text NOT NULL,
    password_hash text,
    password_changed_at timestamp with time zone,
    disabled_at timestamp with time zone,
    last_login_at timestamp with time zone,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    updated_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    CONSTRAINT members_email_check CHECK (((email = lower(email)) AND (strpos(email, '@'::text) > 1) AND (length(email) <= 254))),
    CONSTRAINT members_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    CONSTRAINT members_password_hash_check CHECK (starts_with(password_hash, '$argon2id$'::text)),
    CONSTRAINT members_role_check CHECK ((role = ANY (ARRAY['admin'::text, 'reviewer'::text, 'submitter'::text, 'viewer'::text])))
);
CREATE TABLE messor.moved_pictures (
    page_id bigint NOT NULL,
    url text NOT NULL
);
CREATE TABLE messor.one_time_links (
    id uuid NOT NULL,
    purpose text NOT NULL,
    member_id uuid,
    token_hash bytea NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT one_time_links_check CHECK (((purpose = 'login'::text) = (member_id IS NOT NULL))),
    CONSTRAINT one_time_links_purpose_check CHECK ((purpose = ANY (ARRAY['first_admin'::text, 'login'::text]))),
    CONSTRAINT one_time_links_token_hash_check CHECK ((length(token_hash) = 32))
);
CREATE TABLE messor.orbits (
    id uuid NOT NULL,
    slug text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    owner text NOT NULL,
    domain_id uuid,
    created_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    updated_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    CONSTRAINT orbits_slug_check CHECK (((slug ~ '^[a-z0-9](-?[a-z0-9]+)*$'::text) AND (length(slug) <= 100)))
);
CREATE TABLE messor.organisation_domains (
    vertical_id uuid NOT NULL,
    domain text NOT NULL COLLATE pg_catalog."C",
    organisation_id uuid NOT NULL,
    created_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    CONSTRAINT organisation_domains_domain_check CHECK (((domain <> ''::text) AND (domain = lower(domain))))
);
CREATE TABLE messor.outbox_relay (
    is_the_one boolean DEFAULT true NOT NULL,
    holder text DEFAULT ''::text NOT NULL,
    expires_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    CONSTRAINT outbox_relay_is_the_one_check CHECK (is_the_one)
)
WITH (fillfactor='50');
CREATE TABLE messor.page_changes (
    page_id bigint NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    snapshot_id bigint,
    state text NOT NULL,
    CONSTRAINT page_changes_state_check CHECK ((state = ANY (ARRAY['new'::text, 'changed'::text, 'removed'::text])))
);
CREATE TABLE messor.page_snapshots (
    id bigint NOT NULL,
    page_id bigint NOT NULL,
    content_hash bytea NOT NULL,
    data_hash bytea NOT NULL,
    raw_hash bytea NOT NULL,
    reader_version smallint NOT NULL,
    segment_id bigint NOT NULL,
    segment_offset bigint NOT NULL,
    segment_length integer NOT NULL,
    size integer NOT NULL,
    status_code smallint NOT NULL,
    provider text DEFAULT 'http'::text NOT NULL,
    content_type text,
    title text,
    description text,
    language text,
    crawled_at timestamp with time zone NOT NULL,
    verdict text,
    signals jsonb,
    revisit_segment_id bigint,
    revisit_offset bigint,
    revisit_length integer,
    misfiled_at timestamp with time zone
);
CREATE TABLE messor.snapshot_texts (
    snapshot_id bigint NOT NULL,
    markdown text NOT NULL,
    data jsonb
);
ALTER TABLE ONLY messor.snapshot_texts ALTER COLUMN markdown SET STORAGE EXTERNAL;
ALTER TABLE ONLY messor.snapshot_texts ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE VIEW messor.page_content AS
 SELECT DISTINCT ON (s.page_id, s.content_hash) s.id,
    s.page_id,
    s.content_hash,
    t.markdown,
    messor.count_words(t.markdown) AS word_count,
    s.provider,
    s.crawled_at AS fetched_at
   FROM (messor.page_snapshots s
     JOIN messor.snapshot_texts t ON ((t.snapshot_id = s.id)))
  ORDER BY s.page_id, s.content_hash, s.id DESC;
CREATE TABLE messor.page_flags (
    page_id bigint NOT NULL,
    vertical text NOT NULL COLLATE pg_catalog."C",
    snapshot_id bigint,
    relevant boolean,
    score real NOT NULL,
    reasons jsonb DEFAULT '[]'::jsonb NOT NULL,
    model_version text NOT NULL,
    flagged_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    CONSTRAINT page_flags_score_check CHECK (((score >= (0)::double precision) AND (score <= (1)::double precision)))
);
CREATE VIEW messor.page_html AS
 SELECT DISTINCT ON (page_id, content_hash) id,
    page_id,
    content_hash,
    raw_hash,
    segment_id,
    segment_offset,
    segment_length,
    size,
    crawled_at AS fetched_at
   FROM messor.page_snapshots
  ORDER BY page_id, content_hash, id DESC;
ALTER TABLE messor.page_snapshots ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME messor.page_snapshots_id_seq);
ALTER TABLE messor.pages ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME messor.pages_id_seq);
CREATE TABLE messor.parser_pins (
    parser text NOT NULL COLLATE pg_catalog."C",
    domain_id uuid,
    version text NOT NULL COLLATE pg_catalog."C",
    previous text COLLATE pg_catalog."C",
    pinned_by text NOT NULL,
    pinned_at timestamp with time zone DEFAULT messor.clock() NOT NULL
);
CREATE TABLE messor.parser_trials (
    id uuid NOT NULL,
    parser text NOT NULL COLLATE pg_catalog."C",
    version text NOT NULL COLLATE pg_catalog."C",
    domain_id uuid,
    state text DEFAULT 'compared'::text NOT NULL,
    pages integer NOT NULL,
    report jsonb NOT NULL,
    started_by text NOT NULL,
    started_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    decided_by text,
    decided_at timestamp with time zone,
    reason text,
    most integer,
    CONSTRAINT parser_trials_most_check CHECK ((most > 0)),
    CONSTRAINT parser_trials_state_check CHECK ((state = ANY (ARRAY['shadowing'::text, 'compared'::text, 'promoted'::text, 'rejected'::text, 'rolled_back'::text])))
);
CREATE TABLE messor.preflights (
    id uuid NOT NULL,
    domain_id uuid NOT NULL,
    page_id bigint,
    requested_by text NOT NULL,
    requested_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    finished_at timestamp with time zone,
    requests smallint DEFAULT 0 NOT NULL,
    report jsonb,
    CONSTRAINT preflights_check CHECK (((finished_at IS NULL) = (report IS NULL))),
    CONSTRAINT preflights_requests_check CHECK (((requests >= 0) AND (requests <= 3)))
);
ALTER TABLE messor.product_images ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME messor.product_images_id_seq);
CREATE TABLE messor.product_prices (
    product_id bigint NOT NULL,
    page_id bigint NOT NULL,
    snapshot_id bigint NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    price numeric,
    currency text,
    availability text,
    cause text DEFAULT 'page'::text NOT NULL
);
CREATE TABLE messor.products (
    id bigint NOT NULL,
    record_id bigint NOT NULL,
    page_id bigint NOT NULL,
    snapshot_id bigint NOT NULL,
    domain_id uuid NOT NULL,
    url text NOT NULL COLLATE pg_catalog."C",
    url_hash bytea NOT NULL,
    product_name text,
    description text,
    price numeric,
    currency text,
    availability text,
    rating numeric,
    review_count bigint,
    brand text,
    category text,
    sku text,
    gtin text,
    state text DEFAULT 'current'::text NOT NULL,
    content_hash bytea NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    parser text NOT NULL,
    parser_version text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT products_state_check CHECK ((state = ANY (ARRAY['current'::text, 'removed'::text])))
);
ALTER TABLE messor.products ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME messor.products_id_seq);
CREATE TABLE messor.provider_holds (
    provider text NOT NULL,
    held_until timestamp with time zone NOT NULL,
    doublings integer NOT NULL,
    reason text NOT NULL,
    set_at timestamp with time zone DEFAULT messor.clock()
);
CREATE TABLE messor.provider_usage (
    provider text NOT NULL COLLATE pg_catalog."C",
    month date NOT NULL,
    requests bigint DEFAULT 0 NOT NULL,
    cost numeric DEFAULT 0 NOT NULL
);
CREATE TABLE messor.proxies (
    id integer NOT NULL,
    proxy_url text NOT NULL,
    proxy_port integer NOT NULL,
    proxy_protocol text DEFAULT 'http'::text NOT NULL,
    proxy_username text DEFAULT ''::text NOT NULL,
    proxy_password bytea,
    is_active boolean DEFAULT true NOT NULL,
    failure_count integer DEFAULT 0 NOT NULL,
    success_count bigint DEFAULT 0 NOT NULL,
    failures bigint DEFAULT 0 NOT NULL,
    cost_per_request numeric,
    cost numeric DEFAULT 0 NOT NULL,
    avg_response_time_ms integer,
    last_used_at timestamp with time zone,
    last_success_at timestamp with time zone,
    last_failure_at timestamp with time zone,
    last_error text,
    probe_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    updated_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    trusted boolean DEFAULT false NOT NULL,
    CONSTRAINT proxies_proxy_port_check CHECK (((proxy_port >= 1) AND (proxy_port <= 65535))),
    CONSTRAINT proxies_proxy_protocol_check CHECK ((proxy_protocol = ANY (ARRAY['http'::text, 'https'::text, 'socks5'::text])))
);
ALTER TABLE messor.proxies ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME messor.proxies_id_seq);
CREATE TABLE messor.proxy_requests (
    domain_id uuid NOT NULL,
    proxy_id integer NOT NULL,
    window_start timestamp with time zone NOT NULL,
    requests integer NOT NULL
);
CREATE TABLE messor.rankings (
    version integer NOT NULL,
    fields jsonb NOT NULL,
    measured jsonb NOT NULL,
    learnt_by text NOT NULL,
    learnt_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    in_force boolean DEFAULT false NOT NULL
);
ALTER TABLE messor.rankings ALTER COLUMN version ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME messor.rankings_version_seq);
CREATE UNLOGGED TABLE messor.rate_limits (
    key text NOT NULL COLLATE pg_catalog."C",
    spent_until timestamp with time zone NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE messor.record_changes (
    id bigint NOT NULL,
    record_id bigint NOT NULL,
    page_id bigint NOT NULL,
    snapshot_id bigint,
    changed_at timestamp with time zone NOT NULL,
    state text NOT NULL,
    cause text NOT NULL,
    field text,
    before jsonb,
    after jsonb,
    CONSTRAINT record_changes_cause_check CHECK ((cause = ANY (ARRAY['page'::text, 'parser'::text]))),
    CONSTRAINT record_changes_state_check CHECK ((state = ANY (ARRAY['new'::text, 'changed'::text, 'removed'::text, 'returned'::text])))
);
ALTER TABLE messor.record_changes ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME messor.record_changes_id_seq);
ALTER TABLE messor.records ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME messor.records_id_seq);
CREATE TABLE messor.recovery_codes (
    member_id uuid NOT NULL,
    code_hash bytea NOT NULL,
    used_at timestamp with time zone
);
CREATE TABLE messor.refused_links (
    host_id bigint NOT NULL,
    rule text NOT NULL COLLATE pg_catalog."C",
    links bigint NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE messor.relevance_models (
    id bigint NOT NULL,
    vertical text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    state text NOT NULL,
    reason text NOT NULL,
    decisions integer NOT NULL,
    measured jsonb NOT NULL,
    weights jsonb NOT NULL,
    trained_by text NOT NULL,
    trained_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    CONSTRAINT relevance_models_state_check CHECK ((state = ANY (ARRAY['on'::text, 'refused'::text, 'off'::text]))),
    CONSTRAINT relevance_models_version_check CHECK ((version > 0))
);
ALTER TABLE messor.relevance_models ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME messor.relevance_models_id_seq);
CREATE TABLE messor.robots_files (
    id bigint NOT NULL,
    host_id bigint NOT NULL,
    verdict text NOT NULL,
    reason text NOT NULL,
    status_code smallint,
    body bytea NOT NULL,
    body_hash bytea NOT NULL,
    crawl_delay real,
    fetched_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    signals jsonb,
    redirected_to text,
    scheme text,
    CONSTRAINT robots_files_scheme_check CHECK ((scheme = ANY (ARRAY['https'::text, 'http'::text]))),
    CONSTRAINT robots_files_verdict_check CHECK ((verdict = ANY (ARRAY['rules'::text, 'allow_all'::text, 'deny_all'::text])))
);
ALTER TABLE messor.robots_files ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME messor.robots_files_id_seq);
CREATE TABLE messor.robots_redirects (
    host_id bigint NOT NULL,
    page_id bigint NOT NULL,
    hops smallint NOT NULL,
    schemes text[] DEFAULT '{https,http}'::text[] NOT NULL
);
CREATE TABLE messor.saved_views (
    id uuid NOT NULL,
    member_id uuid NOT NULL,
    list text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    filters jsonb NOT NULL,
    is_shared boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    CONSTRAINT saved_views_filters_check CHECK (((jsonb_typeof(filters) = 'object'::text) AND (length((filters)::text) <= 4000))),
    CONSTRAINT saved_views_list_check CHECK ((list = ANY (ARRAY['domains'::text, 'review'::text, 'tasks'::text]))),
    CONSTRAINT saved_views_name_check CHECK (((length(name) >= 1) AND (length(name) <= 60)))
);
CREATE TABLE messor.schedule_runs (
    name text NOT NULL COLLATE pg_catalog."C",
    due_at timestamp with time zone,
    started_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    outcome text NOT NULL,
    started_by text NOT NULL,
    token bigint,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT schedule_runs_outcome_check CHECK ((outcome = ANY (ARRAY['ok'::text, 'failed'::text, 'interrupted'::text])))
)
PARTITION BY RANGE (started_at);
CREATE TABLE messor.schedules (
    name text NOT NULL COLLATE pg_catalog."C",
    cadence text,
    enabled boolean DEFAULT true NOT NULL,
    planned_from text,
    next_run_at timestamp with time zone,
    last_run_at timestamp with time zone,
    last_finished_at timestamp with time zone,
    last_outcome text,
    last_detail jsonb,
    overridden_by text,
    overridden_at timestamp with time zone,
    CONSTRAINT schedules_check CHECK (((cadence IS NULL) OR ((overridden_by IS NOT NULL) AND (overridden_at IS NOT NULL)))),
    CONSTRAINT schedules_last_outcome_check CHECK ((last_outcome = ANY (ARRAY['ok'::text, 'failed'::text, 'interrupted'::text])))
)
WITH (fillfactor='50');
CREATE TABLE messor.scores (
    id bigint NOT NULL,
    vertical_id uuid NOT NULL,
    subject text NOT NULL,
    subject_id uuid NOT NULL,
    score double precision NOT NULL,
    track_level text NOT NULL,
    parts jsonb NOT NULL,
    vertical_version integer NOT NULL,
    window_from timestamp with time zone NOT NULL,
    window_to timestamp with time zone NOT NULL,
    scored_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    CONSTRAINT scores_check CHECK ((window_from < window_to)),
    CONSTRAINT scores_score_check CHECK (((score >= (0)::double precision) AND (score <= (1)::double precision))),
    CONSTRAINT scores_subject_check CHECK ((subject = ANY (ARRAY['domain'::text, 'organisation'::text]))),
    CONSTRAINT scores_track_level_check CHECK ((track_level = ANY (ARRAY['A'::text, 'B'::text, 'C'::text, 'D'::text])))
);
ALTER TABLE messor.scores ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME messor.scores_id_seq);
CREATE TABLE messor.search_answers (
    request_id uuid NOT NULL,
    engine text NOT NULL COLLATE pg_catalog."C",
    status smallint NOT NULL,
    body bytea NOT NULL,
    raw_hash bytea NOT NULL,
    is_json boolean NOT NULL,
    received_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    processed_at timestamp with time zone,
    CONSTRAINT search_answers_check CHECK ((raw_hash = sha256(body))),
    CONSTRAINT search_answers_raw_hash_check CHECK ((length(raw_hash) = 32))
);
CREATE TABLE messor.search_documents (
    id bigint NOT NULL,
    page_id bigint NOT NULL,
    snapshot_id bigint NOT NULL,
    record_id bigint,
    domain_id uuid NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    title text,
    config text NOT NULL COLLATE pg_catalog."C",
    brand text,
    category text,
    price numeric,
    currency text,
    rating numeric,
    availability text,
    indexed_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    words tsvector NOT NULL
);
ALTER TABLE messor.search_documents ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME messor.search_documents_id_seq);
CREATE TABLE messor.search_due (
    id bigint NOT NULL,
    page_id bigint NOT NULL
)
WITH (autovacuum_vacuum_threshold='500', autovacuum_vacuum_scale_factor='0.02');
ALTER TABLE messor.search_due ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME messor.search_due_id_seq);
CREATE TABLE messor.search_requests (
    id uuid NOT NULL,
    keyword_id uuid NOT NULL,
    serp_profile_id uuid NOT NULL,
    window_key text NOT NULL COLLATE pg_catalog."C",
    page smallint DEFAULT 1 NOT NULL,
    state text DEFAULT 'open'::text NOT NULL,
    said text,
    held_by uuid,
    held_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    created_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT search_requests_check CHECK (((state <> 'gap'::text) OR (btrim(COALESCE(said, ''::text)) <> ''::text))),
    CONSTRAINT search_requests_page_check CHECK (((page >= 1) AND (page <= 100))),
    CONSTRAINT search_requests_state_check CHECK ((state = ANY (ARRAY['open'::text, 'asking'::text, 'answered'::text, 'gap'::text]))),
    CONSTRAINT search_requests_window_key_check CHECK ((window_key <> ''::text))
);
CREATE TABLE messor.search_spend (
    id uuid NOT NULL,
    request_id uuid NOT NULL,
    engine text NOT NULL COLLATE pg_catalog."C",
    month date NOT NULL,
    state text DEFAULT 'asked'::text NOT NULL,
    cost numeric NOT NULL,
    said text,
    asked_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    settled_at timestamp with time zone,
    CONSTRAINT search_spend_check CHECK (((state <> 'refused'::text) OR (cost = (0)::numeric))),
    CONSTRAINT search_spend_cost_check CHECK ((cost >= (0)::numeric)),
    CONSTRAINT search_spend_state_check CHECK ((state = ANY (ARRAY['asked'::text, 'answered'::text, 'refused'::text, 'lost'::text])))
);
CREATE TABLE messor.second_factors (
    member_id uuid NOT NULL,
    sealed_secret bytea NOT NULL,
    confirmed_at timestamp with time zone,
    last_step bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT messor.clock() NOT NULL
);
CREATE TABLE messor.segments (
    id bigint NOT NULL,
    name text NOT NULL,
    worker_id bigint NOT NULL,
    state text DEFAULT 'open'::text NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    sealed_at timestamp with time zone,
    CONSTRAINT segments_state_check CHECK ((state = ANY (ARRAY['open'::text, 'sealed'::text])))
);
ALTER TABLE messor.segments ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME messor.segments_id_seq);
CREATE TABLE messor.serp_profiles (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    vertical_id uuid NOT NULL,
    name text NOT NULL,
    gl text DEFAULT 'sg'::text NOT NULL,
    hl text DEFAULT 'en'::text NOT NULL,
    device text DEFAULT 'desktop'::text NOT NULL,
    location text DEFAULT 'Singapore'::text NOT NULL,
    uule text,
    active boolean DEFAULT true NOT NULL,
    CONSTRAINT serp_profiles_device_check CHECK ((device = ANY (ARRAY['desktop'::text, 'mobile'::text, 'tablet'::text]))),
    CONSTRAINT serp_profiles_gl_check CHECK ((gl ~ '^[a-z]{2}$'::text)),
    CONSTRAINT serp_profiles_hl_check CHECK ((hl ~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$'::text)),
    CONSTRAINT serp_profiles_name_check CHECK ((btrim(name) <> ''::text))
);
CREATE TABLE messor.serp_results (
    id bigint NOT NULL,
    snapshot_id uuid NOT NULL,
    rank_position integer NOT NULL,
    block_type text NOT NULL,
    domain_id uuid,
    domain text COLLATE pg_catalog."C",
    url text COLLATE pg_catalog."C",
    title text,
    snippet text,
    published_at timestamp with time zone,
    is_best boolean DEFAULT true NOT NULL,
    CONSTRAINT serp_results_block_type_check CHECK ((block_type = ANY (ARRAY['organic'::text, 'local_pack'::text, 'featured'::text, 'ad'::text, 'people_also_ask'::text, 'related'::text, 'ai_overview'::text, 'knowledge'::text, 'news'::text, 'other'::text]))),
    CONSTRAINT serp_results_rank_position_check CHECK ((rank_position > 0))
);
ALTER TABLE messor.serp_results ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME messor.serp_results_id_seq);
CREATE TABLE messor.serp_snapshots (
    id uuid NOT NULL,
    keyword_id uuid NOT NULL,
    serp_profile_id uuid NOT NULL,
    request_id uuid NOT NULL,
    window_key text NOT NULL COLLATE pg_catalog."C",
    engine text NOT NULL COLLATE pg_catalog."C",
    outcome text NOT NULL,
    said text,
    raw_hash bytea,
    result_count integer DEFAULT 0 NOT NULL,
    extras jsonb DEFAULT '{}'::jsonb NOT NULL,
    captured_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    judged_in uuid,
    CONSTRAINT serp_snapshots_check CHECK (((outcome <> 'failed'::text) OR ((result_count = 0) AND (btrim(COALESCE(said, ''::text)) <> ''::text)))),
    CONSTRAINT serp_snapshots_outcome_check CHECK ((outcome = ANY (ARRAY['ok'::text, 'partial'::text, 'failed'::text]))),
    CONSTRAINT serp_snapshots_result_count_check CHECK ((result_count >= 0))
);
CREATE VIEW messor.serp_snapshots_raw AS
 SELECT s.id AS snapshot_id,
    s.keyword_id,
    s.serp_profile_id,
    s.captured_at,
    a.raw_hash,
        CASE
            WHEN a.is_json THEN (convert_from(a.body, 'UTF8'::name))::json
            ELSE NULL::json
        END AS raw_json
   FROM (messor.serp_snapshots s
     JOIN messor.search_answers a ON ((a.request_id = s.request_id)));
CREATE TABLE messor.sessions (
    id uuid NOT NULL,
    member_id uuid NOT NULL,
    token_hash bytea NOT NULL,
    opened_by text NOT NULL,
    address text,
    network text NOT NULL COLLATE pg_catalog."C",
    user_agent text,
    idle interval NOT NULL,
    opened_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    last_seen_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT sessions_check CHECK ((expires_at > opened_at)),
    CONSTRAINT sessions_opened_by_check CHECK ((opened_by = ANY (ARRAY['password'::text, 'link'::text, 'first_admin'::text, 'identity_provider'::text]))),
    CONSTRAINT sessions_token_hash_check CHECK ((length(token_hash) = 32)),
    CONSTRAINT sessions_user_agent_check CHECK ((length(user_agent) <= 300))
)
WITH (fillfactor='70');
CREATE TABLE messor.sitemaps (
    page_id bigint NOT NULL,
    host_id bigint NOT NULL,
    parent_id bigint,
    depth smallint DEFAULT 0 NOT NULL,
    kind text,
    urls integer DEFAULT 0 NOT NULL,
    sitemaps integer DEFAULT 0 NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    error_json jsonb,
    warnings jsonb,
    read_at timestamp with time zone
);
CREATE TABLE messor.spare_records (
    page_id bigint NOT NULL,
    segment_id bigint NOT NULL,
    segment_offset bigint NOT NULL,
    segment_length integer NOT NULL
);
CREATE TABLE messor.standstill (
    is_on boolean DEFAULT true NOT NULL,
    actor text NOT NULL,
    since timestamp with time zone DEFAULT messor.clock() NOT NULL,
    CONSTRAINT standstill_is_on_check CHECK (is_on)
);
CREATE TABLE messor.submitted_urls (
    domain_id uuid NOT NULL,
    url_hash bytea NOT NULL,
    url text NOT NULL COLLATE pg_catalog."C",
    submitted_by text NOT NULL,
    submitter_type text NOT NULL,
    submitted_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    taken_at timestamp with time zone,
    CONSTRAINT submitted_urls_submitter_type_check CHECK ((submitter_type = ANY (ARRAY['admin'::text, 'public_user'::text, 'system'::text])))
);
CREATE TABLE messor.task_batches (
    id uuid NOT NULL,
    name text NOT NULL,
    submitted_by text NOT NULL,
    source text NOT NULL,
    format text NOT NULL,
    lines integer DEFAULT 0 NOT NULL,
    accepted integer DEFAULT 0 NOT NULL,
    fresh integer DEFAULT 0 NOT NULL,
    duplicates integer DEFAULT 0 NOT NULL,
    rejected integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    finished_at timestamp with time zone
);
CREATE TABLE messor.tiles (
    id uuid NOT NULL,
    orbit_id uuid NOT NULL,
    run_id bigint NOT NULL,
    "position" smallint NOT NULL,
    category text NOT NULL,
    title text NOT NULL,
    summary text NOT NULL,
    items jsonb DEFAULT '[]'::jsonb NOT NULL,
    source_url text NOT NULL,
    snapshot_id bigint,
    confidence real NOT NULL,
    CONSTRAINT tiles_confidence_check CHECK (((confidence >= (0)::double precision) AND (confidence <= (1)::double precision)))
);
CREATE TABLE messor.traffic_halts (
    id bigint NOT NULL,
    halted_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    halted_by text NOT NULL,
    reason text NOT NULL,
    lifted_at timestamp with time zone,
    lifted_by text,
    CONSTRAINT traffic_halts_check CHECK (((lifted_at IS NULL) = (lifted_by IS NULL))),
    CONSTRAINT traffic_halts_reason_check CHECK ((reason <> ''::text))
);
ALTER TABLE messor.traffic_halts ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME messor.traffic_halts_id_seq);
CREATE VIEW messor.url_fetch_cache AS
 SELECT encode(p.url_hash, 'hex'::text) AS url_hash,
    p.url,
    h.host AS hostname,
    x.markdown AS content,
    s.status_code,
    jsonb_strip_nulls(jsonb_build_object('Content-Type', s.content_type, 'ETag', t.etag, 'Last-Modified', t.last_modified)) AS headers,
    encode(s.content_hash, 'hex'::text) AS content_hash,
    t.last_fetched_at AS fetched_at,
    (t.last_fetched_at + '24:00:00'::interval) AS expires_at,
    p.id AS page_id,
    s.id AS snapshot_id
   FROM ((((messor.crawl_tasks t
     JOIN messor.pages p ON ((p.id = t.page_id)))
     JOIN messor.hosts h ON ((h.id = t.host_id)))
     JOIN messor.page_snapshots s ON ((s.id = t.snapshot_id)))
     JOIN messor.snapshot_texts x ON ((x.snapshot_id = s.id)))
  WHERE ((t.outcome = ANY (ARRAY['ok'::text, 'unchanged'::text])) AND (t.kind = 'page'::text));
CREATE TABLE messor.url_patterns (
    host_id bigint NOT NULL,
    pattern text NOT NULL COLLATE pg_catalog."C",
    pages integer DEFAULT 0 NOT NULL
)
WITH (fillfactor='70');
CREATE TABLE messor.vertical_services (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    vertical_id uuid NOT NULL,
    service_name text NOT NULL,
    synonyms text[] DEFAULT '{}'::text[] NOT NULL,
    intent text DEFAULT 'commercial'::text NOT NULL,
    active boolean DEFAULT true NOT NULL,
    CONSTRAINT vertical_services_intent_check CHECK ((intent = ANY (ARRAY['commercial'::text, 'informational'::text, 'navigational'::text, 'transactional'::text]))),
    CONSTRAINT vertical_services_service_name_check CHECK ((btrim(service_name) <> ''::text))
);
CREATE TABLE messor.vertical_versions (
    vertical_id uuid NOT NULL,
    version integer NOT NULL,
    source text NOT NULL,
    source_hash bytea NOT NULL,
    applied_by text NOT NULL,
    applied_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    CONSTRAINT vertical_versions_source_hash_check CHECK ((length(source_hash) = 32)),
    CONSTRAINT vertical_versions_version_check CHECK ((version > 0))
);
CREATE TABLE messor.visits (
    host_id bigint NOT NULL,
    token bigint NOT NULL,
    worker_id bigint NOT NULL,
    claimed_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    end_reason text,
    pages integer DEFAULT 0 NOT NULL
)
PARTITION BY RANGE (claimed_at);
CREATE TABLE messor.webhooks (
    id uuid NOT NULL,
    url text NOT NULL,
    types text[] DEFAULT '{}'::text[] NOT NULL,
    secret bytea NOT NULL,
    is_active boolean DEFAULT true NOT NULL,
    tx xid8 NOT NULL,
    event_id bigint NOT NULL,
    successes bigint DEFAULT 0 NOT NULL,
    failures bigint DEFAULT 0 NOT NULL,
    failure_count integer DEFAULT 0 NOT NULL,
    last_success_at timestamp with time zone,
    last_failure_at timestamp with time zone,
    last_error text,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    CONSTRAINT webhooks_url_check CHECK ((length(url) <= 2000))
);
CREATE TABLE messor.worker_leases (
    id bigint NOT NULL,
    name text NOT NULL,
    started_at timestamp with time zone DEFAULT messor.clock() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    flushes bigint DEFAULT 0 NOT NULL,
    ended_at timestamp with time zone,
    end_reason text,
    CONSTRAINT worker_leases_end_reason_check CHECK ((end_reason = ANY (ARRAY['stopped'::text, 'expired'::text])))
)
WITH (fillfactor='50', autovacuum_vacuum_threshold='200', autovacuum_vacuum_scale_factor='0');
ALTER TABLE messor.worker_leases ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME messor.worker_leases_id_seq);
ALTER TABLE ONLY messor.ai_calls ADD CONSTRAINT ai_calls_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.ai_usage ADD CONSTRAINT ai_usage_pkey PRIMARY KEY (scope, key, month);
ALTER TABLE ONLY messor.alarms ADD CONSTRAINT alarms_pkey PRIMARY KEY (place, name);
ALTER TABLE ONLY messor.alembic_version ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY messor.api_keys ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.api_keys ADD CONSTRAINT api_keys_prefix_key UNIQUE (prefix);
ALTER TABLE ONLY messor.barren_pages ADD CONSTRAINT barren_pages_pkey PRIMARY KEY (page_id);
ALTER TABLE ONLY messor.batch_errors ADD CONSTRAINT batch_errors_pkey PRIMARY KEY (batch_id, line);
ALTER TABLE ONLY messor.batch_pages ADD CONSTRAINT batch_pages_pkey PRIMARY KEY (batch_id, page_id);
ALTER TABLE ONLY messor.blanks ADD CONSTRAINT blanks_pkey PRIMARY KEY (segment_id, segment_offset);
ALTER TABLE ONLY messor.candidates ADD CONSTRAINT candidates_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.candidates ADD CONSTRAINT candidates_session_id_url_hash_key UNIQUE (session_id, url_hash);
ALTER TABLE ONLY messor.class_lessons ADD CONSTRAINT class_lessons_pkey PRIMARY KEY (feature, class);
ALTER TABLE ONLY messor.clock_watch ADD CONSTRAINT clock_watch_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.corrections ADD CONSTRAINT corrections_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.corrections ADD CONSTRAINT corrections_record_id_snapshot_id_field_key UNIQUE (record_id, snapshot_id, field);
ALTER TABLE ONLY messor.crawl_run_pages ADD CONSTRAINT crawl_run_pages_pkey PRIMARY KEY (run_id, page_id);
ALTER TABLE ONLY messor.crawl_runs ADD CONSTRAINT crawl_runs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.crawl_tasks ADD CONSTRAINT crawl_tasks_pkey PRIMARY KEY (page_id);
ALTER TABLE ONLY messor.default_views ADD CONSTRAINT default_views_pkey PRIMARY KEY (member_id, list);
ALTER TABLE ONLY messor.discovery_sessions ADD CONSTRAINT discovery_sessions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.domain_classes ADD CONSTRAINT domain_classes_pkey PRIMARY KEY (domain);
ALTER TABLE ONLY messor.domain_notes ADD CONSTRAINT domain_notes_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.domain_submissions ADD CONSTRAINT domain_submissions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.domains ADD CONSTRAINT domains_domain_key UNIQUE (domain);
ALTER TABLE messor.domains
    ADD CONSTRAINT domains_name CHECK ((length(domain) BETWEEN 3 AND 253 AND (domain ~ '^[^./:@?#\s]+(\.[^./:@?#\s]+)+$'::text))) NOT VALID;
ALTER TABLE ONLY messor.domains ADD CONSTRAINT domains_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.erasures ADD CONSTRAINT erasures_kind_key_key UNIQUE (kind, key);
ALTER TABLE ONLY messor.erasures ADD CONSTRAINT erasures_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.extraction_due ADD CONSTRAINT extraction_due_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.extractions ADD CONSTRAINT extractions_pkey PRIMARY KEY (page_id);
ALTER TABLE ONLY messor.fetch_days ADD CONSTRAINT fetch_days_pkey PRIMARY KEY (day, host_id, outcome);
ALTER TABLE ONLY messor.fetch_minutes ADD CONSTRAINT fetch_minutes_pkey PRIMARY KEY (minute, outcome);
ALTER TABLE ONLY messor.fetch_rollup ADD CONSTRAINT fetch_rollup_pkey PRIMARY KEY (is_the_one);
ALTER TABLE ONLY messor.flag_decisions ADD CONSTRAINT flag_decisions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.forgotten_pages ADD CONSTRAINT forgotten_pages_pkey PRIMARY KEY (page_id);
ALTER TABLE ONLY messor.geo_sets ADD CONSTRAINT geo_sets_name_key UNIQUE (name);
ALTER TABLE ONLY messor.geo_sets ADD CONSTRAINT geo_sets_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.hosts ADD CONSTRAINT hosts_host_key UNIQUE (host);
ALTER TABLE ONLY messor.hosts ADD CONSTRAINT hosts_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.idempotency_keys ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (owner, key);
ALTER TABLE ONLY messor.ingestion_pages ADD CONSTRAINT ingestion_pages_pkey PRIMARY KEY (run_id, page_id);
ALTER TABLE ONLY messor.ingestion_runs ADD CONSTRAINT ingestion_runs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.ingestion_runs ADD CONSTRAINT ingestion_runs_trace_id_key UNIQUE (trace_id);
ALTER TABLE ONLY messor.job_outbox ADD CONSTRAINT job_outbox_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.jobs ADD CONSTRAINT jobs_dedupe_key_key UNIQUE (dedupe_key);
ALTER TABLE ONLY messor.jobs ADD CONSTRAINT jobs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.judgements ADD CONSTRAINT judgements_pkey PRIMARY KEY (candidate_id, judge);
ALTER TABLE ONLY messor.keyword_templates ADD CONSTRAINT keyword_templates_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.keywords ADD CONSTRAINT keywords_keyword_text_serp_profile_id_key UNIQUE (keyword_text, serp_profile_id);
ALTER TABLE ONLY messor.keywords ADD CONSTRAINT keywords_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.lanes ADD CONSTRAINT lanes_pkey PRIMARY KEY (host_id);
ALTER TABLE ONLY messor.leaders ADD CONSTRAINT leaders_pkey PRIMARY KEY (name);
ALTER TABLE ONLY messor.login_challenges ADD CONSTRAINT login_challenges_pkey PRIMARY KEY (token_hash);
ALTER TABLE ONLY messor.login_throttles ADD CONSTRAINT login_throttles_pkey PRIMARY KEY (key);
ALTER TABLE ONLY messor.member_identities ADD CONSTRAINT member_identities_member_id_issuer_key UNIQUE (member_id, issuer);
ALTER TABLE ONLY messor.member_identities ADD CONSTRAINT member_identities_pkey PRIMARY KEY (issuer, subject);
ALTER TABLE ONLY messor.members ADD CONSTRAINT members_email_key UNIQUE (email);
ALTER TABLE ONLY messor.members ADD CONSTRAINT members_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.moved_pictures ADD CONSTRAINT moved_pictures_pkey PRIMARY KEY (page_id);
ALTER TABLE ONLY messor.one_time_links ADD CONSTRAINT one_time_links_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.one_time_links ADD CONSTRAINT one_time_links_token_hash_key UNIQUE (token_hash);
ALTER TABLE ONLY messor.orbits ADD CONSTRAINT orbits_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.orbits ADD CONSTRAINT orbits_slug_key UNIQUE (slug);
ALTER TABLE ONLY messor.organisation_domains ADD CONSTRAINT organisation_domains_pkey PRIMARY KEY (vertical_id, domain);
ALTER TABLE ONLY messor.organisations ADD CONSTRAINT organisations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.organisations ADD CONSTRAINT organisations_vertical_id_name_key_key UNIQUE (vertical_id, name_key);
ALTER TABLE ONLY messor.outbox_relay ADD CONSTRAINT outbox_relay_pkey PRIMARY KEY (is_the_one);
ALTER TABLE ONLY messor.page_changes ADD CONSTRAINT page_changes_pkey PRIMARY KEY (page_id, seen_at);
ALTER TABLE ONLY messor.page_flags ADD CONSTRAINT page_flags_pkey PRIMARY KEY (page_id, vertical);
ALTER TABLE ONLY messor.page_snapshots ADD CONSTRAINT page_snapshots_page_id_content_hash_data_hash_key UNIQUE (page_id, content_hash, data_hash);
ALTER TABLE ONLY messor.page_snapshots ADD CONSTRAINT page_snapshots_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.pages ADD CONSTRAINT pages_host_id_url_hash_key UNIQUE (host_id, url_hash) INCLUDE (id);
ALTER TABLE ONLY messor.pages ADD CONSTRAINT pages_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.parser_trials ADD CONSTRAINT parser_trials_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.preflights ADD CONSTRAINT preflights_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.product_images ADD CONSTRAINT product_images_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.product_images ADD CONSTRAINT product_images_product_id_url_hash_key UNIQUE (product_id, url_hash);
ALTER TABLE ONLY messor.product_prices ADD CONSTRAINT product_prices_pkey PRIMARY KEY (product_id, seen_at);
ALTER TABLE ONLY messor.products ADD CONSTRAINT products_page_id_key UNIQUE (page_id);
ALTER TABLE ONLY messor.products ADD CONSTRAINT products_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.products ADD CONSTRAINT products_record_id_key UNIQUE (record_id);
ALTER TABLE ONLY messor.provider_holds ADD CONSTRAINT provider_holds_pkey PRIMARY KEY (provider);
ALTER TABLE ONLY messor.provider_usage ADD CONSTRAINT provider_usage_pkey PRIMARY KEY (provider, month);
ALTER TABLE ONLY messor.proxies ADD CONSTRAINT proxies_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.proxies ADD CONSTRAINT proxies_proxy_protocol_proxy_url_proxy_port_proxy_username_key UNIQUE (proxy_protocol, proxy_url, proxy_port, proxy_username);
ALTER TABLE ONLY messor.proxy_requests ADD CONSTRAINT proxy_requests_pkey PRIMARY KEY (domain_id, proxy_id, window_start);
ALTER TABLE ONLY messor.rankings ADD CONSTRAINT rankings_pkey PRIMARY KEY (version);
ALTER TABLE ONLY messor.rate_limits ADD CONSTRAINT rate_limits_pkey PRIMARY KEY (key);
ALTER TABLE ONLY messor.record_changes ADD CONSTRAINT record_changes_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.records ADD CONSTRAINT records_page_id_kind_identity_key UNIQUE (page_id, kind, identity);
ALTER TABLE ONLY messor.records ADD CONSTRAINT records_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.recovery_codes ADD CONSTRAINT recovery_codes_pkey PRIMARY KEY (member_id, code_hash);
ALTER TABLE ONLY messor.refused_links ADD CONSTRAINT refused_links_pkey PRIMARY KEY (host_id, rule);
ALTER TABLE ONLY messor.relevance_models ADD CONSTRAINT relevance_models_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.relevance_models ADD CONSTRAINT relevance_models_vertical_version_key UNIQUE (vertical, version);
ALTER TABLE ONLY messor.robots_files ADD CONSTRAINT robots_files_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.robots_redirects ADD CONSTRAINT robots_redirects_pkey PRIMARY KEY (host_id);
ALTER TABLE ONLY messor.saved_views ADD CONSTRAINT saved_views_member_id_list_name_key UNIQUE (member_id, list, name);
ALTER TABLE ONLY messor.saved_views ADD CONSTRAINT saved_views_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.schedules ADD CONSTRAINT schedules_pkey PRIMARY KEY (name);
ALTER TABLE ONLY messor.scores ADD CONSTRAINT scores_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.search_answers ADD CONSTRAINT search_answers_pkey PRIMARY KEY (request_id);
ALTER TABLE ONLY messor.search_documents ADD CONSTRAINT search_documents_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.search_due ADD CONSTRAINT search_due_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.search_requests ADD CONSTRAINT search_requests_keyword_id_serp_profile_id_window_key_page_key UNIQUE (keyword_id, serp_profile_id, window_key, page);
ALTER TABLE ONLY messor.search_requests ADD CONSTRAINT search_requests_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.search_spend ADD CONSTRAINT search_spend_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.second_factors ADD CONSTRAINT second_factors_pkey PRIMARY KEY (member_id);
ALTER TABLE ONLY messor.segments ADD CONSTRAINT segments_name_key UNIQUE (name);
ALTER TABLE ONLY messor.segments ADD CONSTRAINT segments_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.serp_profiles ADD CONSTRAINT serp_profiles_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.serp_profiles ADD CONSTRAINT serp_profiles_vertical_id_name_key UNIQUE (vertical_id, name);
ALTER TABLE ONLY messor.serp_results ADD CONSTRAINT serp_results_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.serp_results ADD CONSTRAINT serp_results_snapshot_id_rank_position_block_type_key UNIQUE (snapshot_id, rank_position, block_type);
ALTER TABLE ONLY messor.serp_snapshots ADD CONSTRAINT serp_snapshots_keyword_id_serp_profile_id_captured_at_key UNIQUE (keyword_id, serp_profile_id, captured_at);
ALTER TABLE ONLY messor.serp_snapshots ADD CONSTRAINT serp_snapshots_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.serp_snapshots ADD CONSTRAINT serp_snapshots_request_id_key UNIQUE (request_id);
ALTER TABLE ONLY messor.sessions ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.sessions ADD CONSTRAINT sessions_token_hash_key UNIQUE (token_hash);
ALTER TABLE ONLY messor.sitemaps ADD CONSTRAINT sitemaps_pkey PRIMARY KEY (page_id);
ALTER TABLE ONLY messor.snapshot_texts ADD CONSTRAINT snapshot_texts_pkey PRIMARY KEY (snapshot_id);
ALTER TABLE ONLY messor.spare_records ADD CONSTRAINT spare_records_pkey PRIMARY KEY (page_id, segment_id, segment_offset);
ALTER TABLE ONLY messor.standstill ADD CONSTRAINT standstill_pkey PRIMARY KEY (is_on);
ALTER TABLE ONLY messor.submitted_urls ADD CONSTRAINT submitted_urls_pkey PRIMARY KEY (domain_id, url_hash);
ALTER TABLE ONLY messor.task_batches ADD CONSTRAINT task_batches_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.tiles ADD CONSTRAINT tiles_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.traffic_halts ADD CONSTRAINT traffic_halts_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.url_patterns ADD CONSTRAINT url_patterns_pkey PRIMARY KEY (host_id, pattern);
ALTER TABLE ONLY messor.vertical_services ADD CONSTRAINT vertical_services_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.vertical_services ADD CONSTRAINT vertical_services_vertical_id_service_name_key UNIQUE (vertical_id, service_name);
ALTER TABLE ONLY messor.vertical_versions ADD CONSTRAINT vertical_versions_pkey PRIMARY KEY (vertical_id, version);
ALTER TABLE ONLY messor.verticals ADD CONSTRAINT verticals_name_key UNIQUE (name);
ALTER TABLE ONLY messor.verticals ADD CONSTRAINT verticals_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.webhooks ADD CONSTRAINT webhooks_pkey PRIMARY KEY (id);
ALTER TABLE ONLY messor.worker_leases ADD CONSTRAINT worker_leases_pkey PRIMARY KEY (id);
CREATE INDEX ai_calls_input ON messor.ai_calls USING btree (input_hash, id DESC);
CREATE INDEX ai_calls_month ON messor.ai_calls USING btree (month, domain);
CREATE UNIQUE INDEX ai_calls_one_answer ON messor.ai_calls USING btree (input_hash) WHERE (ending = ANY (ARRAY['asked'::text, 'answered'::text]));
CREATE INDEX ai_calls_page ON messor.ai_calls USING btree (page_id);
CREATE INDEX ai_calls_snapshot ON messor.ai_calls USING btree (snapshot_id);
CREATE INDEX ai_calls_under_way ON messor.ai_calls USING btree (month, domain) WHERE (ending = 'asked'::text);
CREATE INDEX api_keys_member ON messor.api_keys USING btree (member_id, created_at DESC);
CREATE INDEX barren_pages_until ON messor.barren_pages USING btree (until);
CREATE INDEX blanks_open ON messor.blanks USING btree (segment_id) WHERE (blanked_at IS NULL);
CREATE INDEX candidates_crawling ON messor.candidates USING btree (submitted_at) WHERE ((status = 'PENDING_CRAWL'::text) AND (page_id IS NOT NULL));
CREATE INDEX candidates_domain ON messor.candidates USING btree (domain_id, vertical_id);
CREATE INDEX candidates_name ON messor.candidates USING btree (domain, vertical_id);
CREATE INDEX candidates_status ON messor.candidates USING btree (status, created_at, id);
CREATE INDEX candidates_trusted ON messor.candidates USING btree (status, confidence_score DESC, id);
CREATE INDEX candidates_url ON messor.candidates USING btree (vertical_id, url_hash);
CREATE INDEX candidates_vertical ON messor.candidates USING btree (vertical_id, status);
CREATE INDEX crawl_run_pages_page ON messor.crawl_run_pages USING btree (page_id);
CREATE INDEX crawl_runs_domain ON messor.crawl_runs USING btree (domain_id, started_at DESC);
CREATE INDEX crawl_runs_open ON messor.crawl_runs USING btree (domain_id) WHERE (ended_at IS NULL);
CREATE INDEX crawl_runs_page_id ON messor.crawl_runs USING btree (page_id);
CREATE INDEX crawl_tasks_due ON messor.crawl_tasks USING btree (host_id, priority, due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX decisions_page ON ONLY messor.decisions USING btree (page_id, decided_at DESC);
CREATE INDEX default_views_view ON messor.default_views USING btree (view_id);
CREATE INDEX discovery_sessions_vertical ON messor.discovery_sessions USING btree (vertical_id, started_at DESC);
CREATE INDEX domain_classes_stale ON messor.domain_classes USING btree (classified_at) WHERE (decided_by IS NULL);
CREATE INDEX domain_notes_domain ON messor.domain_notes USING btree (domain_id, created_at);
CREATE INDEX domain_submissions_domain ON messor.domain_submissions USING btree (domain_id, created_at);
CREATE INDEX domains_first_label ON messor.domains USING btree (split_part(domain, '.'::text, 1));
CREATE INDEX domains_session ON messor.domains USING btree (discovery_session_id) WHERE (discovery_session_id IS NOT NULL);
CREATE INDEX domains_status ON messor.domains USING btree (status, created_at);
CREATE INDEX domains_waiting ON messor.domains USING btree (created_at, id) WHERE ((status = 'pending_review'::text) OR (review_reason IS NOT NULL));
CREATE INDEX error_logs_job ON ONLY messor.error_logs USING btree (job_id, occurred_at) WHERE (job_id IS NOT NULL);
CREATE INDEX events_domain ON ONLY messor.events USING btree (domain_id, occurred_at DESC);
CREATE INDEX events_order ON ONLY messor.events USING btree (tx, id);
CREATE INDEX extraction_due_page ON messor.extraction_due USING btree (page_id, id);
CREATE INDEX extractions_domain ON messor.extractions USING btree (domain_id, page_type);
CREATE INDEX flag_decisions_page ON messor.flag_decisions USING btree (page_id, vertical, id DESC);
CREATE INDEX flag_decisions_vertical ON messor.flag_decisions USING btree (vertical, id);
CREATE INDEX friction_log_host ON ONLY messor.friction_log USING btree (host_id, occurred_at DESC);
CREATE INDEX geo_sets_vertical ON messor.geo_sets USING btree (vertical_id);
CREATE INDEX hosts_domain ON messor.hosts USING btree (domain_id);
CREATE INDEX http_fetches_host ON ONLY messor.http_fetches USING btree (host_id, fetched_at DESC);
CREATE INDEX http_fetches_time ON ONLY messor.http_fetches USING brin (fetched_at) WITH (autosummarize='on');
CREATE INDEX idempotency_keys_expiry ON messor.idempotency_keys USING btree (expires_at);
CREATE INDEX idx_domain_discovered_at ON messor.domains USING btree (created_at);
CREATE INDEX idx_domain_last_processed ON messor.domains USING btree (last_processed_at);
CREATE INDEX idx_domain_retry ON messor.domains USING btree (processing, retry_after) WHERE (processing = 'processing_failed'::text);
CREATE INDEX idx_domain_status ON messor.domains USING btree (processing);
CREATE INDEX idx_fetches_page ON ONLY messor.http_fetches USING btree (page_id, fetched_at DESC);
CREATE INDEX idx_jobs_claim ON messor.jobs USING btree (job_type, priority, available_at) WHERE (state = ANY (ARRAY['queued'::text, 'running'::text]));
CREATE INDEX idx_products_availability ON messor.products USING btree (availability);
CREATE INDEX idx_products_brand ON messor.products USING btree ("left"(brand, 200));
CREATE INDEX idx_products_category ON messor.products USING btree ("left"(category, 200));
CREATE INDEX idx_products_created_at ON messor.products USING btree (created_at);
CREATE INDEX idx_products_domain_id ON messor.products USING btree (domain_id);
CREATE INDEX idx_products_domain_newest ON messor.products USING btree (domain_id, created_at, id);
CREATE INDEX idx_products_price ON messor.products USING btree (price);
CREATE INDEX idx_products_product_name ON messor.products USING btree ("left"(product_name, 200));
CREATE INDEX idx_products_rating ON messor.products USING btree (rating);
CREATE INDEX idx_products_updated_at ON messor.products USING btree (updated_at);
CREATE INDEX idx_products_url_hash ON messor.products USING btree (url_hash);
CREATE INDEX idx_proxies_last_used_at ON messor.proxies USING btree (last_used_at) WHERE is_active;
CREATE INDEX ingestion_runs_open ON messor.ingestion_runs USING btree (started_at) WHERE (completed_at IS NULL);
CREATE INDEX ingestion_runs_orbit ON messor.ingestion_runs USING btree (orbit_slug, started_at DESC);
CREATE INDEX job_outbox_due ON messor.job_outbox USING btree (due_at, id);
CREATE INDEX jobs_dead ON messor.jobs USING btree (job_type, finished_at) WHERE (state = 'dead'::text);
CREATE INDEX jobs_deliveries ON messor.jobs USING btree (target_id, created_at DESC) WHERE (job_type = 'webhook'::text);
CREATE INDEX jobs_died ON messor.jobs USING btree (finished_at DESC, id DESC) WHERE (state = 'dead'::text);
CREATE INDEX jobs_history_id ON ONLY messor.jobs_history USING btree (id);
CREATE INDEX jobs_retiring ON messor.jobs USING btree (window_ends_at) WHERE (state = ANY (ARRAY['done'::text, 'cancelled'::text]));
CREATE INDEX keyword_templates_geo_set ON messor.keyword_templates USING btree (geo_set_id);
CREATE INDEX keyword_templates_vertical ON messor.keyword_templates USING btree (vertical_id);
CREATE INDEX keywords_due ON messor.keywords USING btree (vertical_id, tier, last_snapshot_at NULLS FIRST) WHERE active;
CREATE INDEX keywords_profile ON messor.keywords USING btree (serp_profile_id);
CREATE INDEX keywords_seed ON messor.keywords USING btree (seed_keyword_id) WHERE (seed_keyword_id IS NOT NULL);
CREATE INDEX lanes_claim ON messor.lanes USING btree (claim_at) WHERE ((worker_id IS NULL) AND (claim_at IS NOT NULL));
CREATE INDEX lanes_held_address ON messor.lanes USING btree (address) WHERE (worker_id IS NOT NULL);
CREATE INDEX lanes_held_domain ON messor.lanes USING btree (domain_id) WHERE (worker_id IS NOT NULL);
CREATE INDEX lanes_held_worker ON messor.lanes USING btree (worker_id) WHERE (worker_id IS NOT NULL);
CREATE INDEX members_admins ON messor.members USING btree (id) WHERE ((role = 'admin'::text) AND (disabled_at IS NULL));
CREATE INDEX one_time_links_expiry ON messor.one_time_links USING btree (expires_at);
CREATE INDEX one_time_links_member ON messor.one_time_links USING btree (member_id);
CREATE INDEX organisation_domains_organisation ON messor.organisation_domains USING btree (organisation_id);
CREATE INDEX page_flags_borderline ON messor.page_flags USING btree (vertical, abs((score - (0.5)::double precision)), page_id);
CREATE INDEX page_flags_snapshot ON messor.page_flags USING btree (snapshot_id);
CREATE UNIQUE INDEX parser_pins_place ON messor.parser_pins USING btree (parser, COALESCE(domain_id, '00000000-0000-0000-0000-000000000000'::uuid));
CREATE UNIQUE INDEX parser_trials_shadowing ON messor.parser_trials USING btree (parser, version, COALESCE(domain_id, '00000000-0000-0000-0000-000000000000'::uuid)) WHERE (state = 'shadowing'::text);
CREATE INDEX preflights_domain ON messor.preflights USING btree (domain_id, requested_at DESC);
CREATE UNIQUE INDEX preflights_open ON messor.preflights USING btree (domain_id) WHERE (finished_at IS NULL);
CREATE INDEX product_images_fetched ON messor.product_images USING btree (image_page_id) WHERE (image_page_id IS NOT NULL);
CREATE INDEX product_images_page ON messor.product_images USING btree (page_id);
CREATE INDEX product_images_waiting ON messor.product_images USING btree (id) WHERE (image_page_id IS NULL);
CREATE INDEX product_prices_page ON messor.product_prices USING btree (page_id);
CREATE UNIQUE INDEX rankings_in_force ON messor.rankings USING btree (in_force) WHERE in_force;
CREATE INDEX record_changes_page ON messor.record_changes USING btree (page_id);
CREATE INDEX record_changes_record ON messor.record_changes USING btree (record_id, id);
CREATE INDEX records_kind ON messor.records USING btree (kind, domain_id, id) WHERE (state = 'current'::text);
CREATE INDEX records_of_domain ON messor.records USING btree (domain_id, id);
CREATE INDEX records_of_kind ON messor.records USING btree (kind, id);
CREATE INDEX records_snapshot ON messor.records USING btree (snapshot_id);
CREATE UNIQUE INDEX relevance_models_on ON messor.relevance_models USING btree (vertical) WHERE (state = 'on'::text);
CREATE INDEX robots_files_host ON messor.robots_files USING btree (host_id, id DESC);
CREATE INDEX robots_redirects_page ON messor.robots_redirects USING btree (page_id);
CREATE INDEX saved_views_shared ON messor.saved_views USING btree (list, name) WHERE is_shared;
CREATE INDEX schedule_runs_name ON ONLY messor.schedule_runs USING btree (name, started_at DESC);
CREATE INDEX scores_subject ON messor.scores USING btree (subject_id, vertical_id, scored_at DESC);
CREATE INDEX scores_vertical ON messor.scores USING btree (vertical_id, subject, scored_at DESC);
CREATE INDEX search_answers_waiting ON messor.search_answers USING btree (received_at) WHERE (processed_at IS NULL);
CREATE INDEX search_documents_config ON messor.search_documents USING btree (config);
CREATE INDEX search_documents_of_page ON messor.search_documents USING btree (page_id);
CREATE UNIQUE INDEX search_documents_page ON messor.search_documents USING btree (page_id) WHERE (record_id IS NULL);
CREATE UNIQUE INDEX search_documents_record ON messor.search_documents USING btree (record_id) WHERE (record_id IS NOT NULL);
CREATE INDEX search_documents_snapshot ON messor.search_documents USING btree (snapshot_id);
CREATE INDEX search_documents_words ON messor.search_documents USING gin (words);
CREATE INDEX search_due_page ON messor.search_due USING btree (page_id);
CREATE INDEX search_requests_open ON messor.search_requests USING btree (held_until) WHERE (state = ANY (ARRAY['open'::text, 'asking'::text]));
CREATE INDEX search_spend_engine ON messor.search_spend USING btree (engine, asked_at);
CREATE UNIQUE INDEX search_spend_once ON messor.search_spend USING btree (request_id) WHERE ((cost > (0)::numeric) AND (state = ANY (ARRAY['asked'::text, 'answered'::text, 'lost'::text])));
CREATE INDEX search_spend_request ON messor.search_spend USING btree (request_id);
CREATE INDEX serp_results_domain ON messor.serp_results USING btree (domain, block_type);
CREATE INDEX serp_results_domain_id ON messor.serp_results USING btree (domain_id) WHERE (domain_id IS NOT NULL);
CREATE INDEX serp_snapshots_captured ON messor.serp_snapshots USING btree (captured_at) WHERE (outcome <> 'failed'::text);
CREATE INDEX serp_snapshots_judged ON messor.serp_snapshots USING btree (judged_in) WHERE (judged_in IS NOT NULL);
CREATE INDEX serp_snapshots_keyword ON messor.serp_snapshots USING btree (keyword_id, captured_at DESC);
CREATE INDEX serp_snapshots_unjudged ON messor.serp_snapshots USING btree (captured_at) WHERE ((judged_in IS NULL) AND (outcome <> 'failed'::text));
CREATE INDEX sessions_expiry ON messor.sessions USING btree (expires_at);
CREATE INDEX sessions_member ON messor.sessions USING btree (member_id, opened_at DESC);
CREATE INDEX sitemaps_host ON messor.sitemaps USING btree (host_id);
CREATE INDEX submitted_urls_waiting ON messor.submitted_urls USING btree (domain_id, submitted_at) WHERE (taken_at IS NULL);
CREATE INDEX task_batches_created ON messor.task_batches USING btree (created_at DESC);
CREATE INDEX tiles_orbit ON messor.tiles USING btree (orbit_id, "position");
CREATE UNIQUE INDEX traffic_halts_in_force ON messor.traffic_halts USING btree ((true)) WHERE (lifted_at IS NULL);
CREATE INDEX visits_host ON ONLY messor.visits USING btree (host_id, claimed_at DESC);
CREATE INDEX worker_leases_live ON messor.worker_leases USING btree (expires_at) WHERE (ended_at IS NULL);
CREATE TRIGGER candidates_steps BEFORE UPDATE OF status ON messor.candidates FOR EACH ROW
  WHEN (OLD.status <> NEW.status AND (OLD.status, NEW.status) NOT IN (
    ('PENDING_CRAWL', 'PENDING_REVIEW'), ('PENDING_REVIEW', 'IN_REVIEW'),
    ('IN_REVIEW', 'APPROVED'), ('IN_REVIEW', 'REJECTED')))
  EXECUTE FUNCTION messor.keep_candidate_steps();
CREATE TRIGGER crawl_tasks_page AFTER INSERT ON messor.crawl_tasks REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION messor.tasks_need_pages();
CREATE TRIGGER crawl_tasks_stay BEFORE UPDATE OF page_id ON messor.crawl_tasks FOR EACH ROW WHEN ((old.page_id <> new.page_id)) EXECUTE FUNCTION messor.refuse_another_key();
CREATE TRIGGER domains_blacklisted BEFORE UPDATE OF status, processing ON messor.domains FOR EACH ROW WHEN (((old.status = 'blacklisted'::text) AND ((new.status <> old.status) OR (new.processing <> old.processing)))) EXECUTE FUNCTION messor.keep_blacklisted();
CREATE TRIGGER domains_preflights AFTER UPDATE OF status ON messor.domains FOR EACH ROW WHEN (((old.status = 'pending_review'::text) AND (new.status <> 'pending_review'::text))) EXECUTE FUNCTION messor.end_preflights();
CREATE TRIGGER domains_standstill BEFORE INSERT ON messor.domains FOR EACH ROW EXECUTE FUNCTION messor.heed_standstill();
CREATE TRIGGER events_told AFTER INSERT ON messor.events FOR EACH STATEMENT EXECUTE FUNCTION messor.tell_of_events();
CREATE TRIGGER extractions_changed_search AFTER UPDATE ON messor.extractions REFERENCING NEW TABLE AS extracted FOR EACH STATEMENT EXECUTE FUNCTION messor.want_search();
CREATE TRIGGER extractions_new_search AFTER INSERT ON messor.extractions REFERENCING NEW TABLE AS extracted FOR EACH STATEMENT EXECUTE FUNCTION messor.want_search();
CREATE TRIGGER hosts_pages AFTER DELETE ON messor.hosts REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION messor.pages_go_with_hosts();
CREATE TRIGGER jobs_hint AFTER INSERT ON messor.jobs REFERENCING NEW TABLE AS asked FOR EACH STATEMENT EXECUTE FUNCTION messor.note_hints();
ALTER TABLE messor.jobs DISABLE TRIGGER jobs_hint;
CREATE TRIGGER mended AFTER UPDATE ON messor.page_snapshots FOR EACH ROW WHEN (((old.misfiled_at IS NOT NULL) AND (new.misfiled_at IS NULL))) EXECUTE FUNCTION messor.mended();
CREATE TRIGGER pages_host AFTER INSERT ON messor.pages REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION messor.pages_need_hosts();
CREATE TRIGGER pages_stay BEFORE UPDATE OF host_id ON messor.pages FOR EACH ROW WHEN ((old.host_id <> new.host_id)) EXECUTE FUNCTION messor.refuse_another_key();
CREATE TRIGGER pages_tasks AFTER DELETE ON messor.pages REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION messor.tasks_go_with_pages();
CREATE TRIGGER product_images_forget BEFORE UPDATE OF image_page_id ON messor.product_images FOR EACH ROW WHEN (((old.image_page_id IS NOT NULL) AND (new.image_page_id IS NULL) AND (new.moves = old.moves))) EXECUTE FUNCTION messor.forget_image();
CREATE TRIGGER stamp_pace BEFORE UPDATE OF ready_at ON messor.lanes FOR EACH ROW WHEN ((new.ready_at IS DISTINCT FROM old.ready_at)) EXECUTE FUNCTION messor.stamp_pace();
ALTER TABLE ONLY messor.api_keys ADD CONSTRAINT api_keys_member_id_fkey FOREIGN KEY (member_id) REFERENCES messor.members(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.batch_errors ADD CONSTRAINT batch_errors_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES messor.task_batches(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.batch_pages ADD CONSTRAINT batch_pages_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES messor.task_batches(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.candidates ADD CONSTRAINT candidates_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES messor.domains(id) ON DELETE SET NULL;
ALTER TABLE ONLY messor.candidates ADD CONSTRAINT candidates_session_id_fkey FOREIGN KEY (session_id) REFERENCES messor.discovery_sessions(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.candidates ADD CONSTRAINT candidates_vertical_id_fkey FOREIGN KEY (vertical_id) REFERENCES messor.verticals(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.corrections ADD CONSTRAINT corrections_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES messor.domains(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.crawl_run_pages ADD CONSTRAINT crawl_run_pages_known FOREIGN KEY (page_id) REFERENCES messor.pages(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.crawl_run_pages ADD CONSTRAINT crawl_run_pages_run_id_fkey FOREIGN KEY (run_id) REFERENCES messor.crawl_runs(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.crawl_runs ADD CONSTRAINT crawl_runs_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES messor.domains(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.crawl_runs ADD CONSTRAINT crawl_runs_page FOREIGN KEY (page_id) REFERENCES messor.pages(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.default_views ADD CONSTRAINT default_views_member_id_fkey FOREIGN KEY (member_id) REFERENCES messor.members(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.default_views ADD CONSTRAINT default_views_view_id_fkey FOREIGN KEY (view_id) REFERENCES messor.saved_views(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.discovery_sessions ADD CONSTRAINT discovery_sessions_vertical_id_fkey FOREIGN KEY (vertical_id) REFERENCES messor.verticals(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.domain_notes ADD CONSTRAINT domain_notes_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES messor.domains(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.domain_submissions ADD CONSTRAINT domain_submissions_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES messor.domains(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.domains ADD CONSTRAINT domains_discovery_session FOREIGN KEY (discovery_session_id) REFERENCES messor.discovery_sessions(id) ON DELETE SET NULL NOT VALID;
ALTER TABLE ONLY messor.geo_sets ADD CONSTRAINT geo_sets_vertical_id_fkey FOREIGN KEY (vertical_id) REFERENCES messor.verticals(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.hosts ADD CONSTRAINT hosts_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES messor.domains(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.ingestion_pages ADD CONSTRAINT ingestion_pages_run_id_fkey FOREIGN KEY (run_id) REFERENCES messor.ingestion_runs(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.judgements ADD CONSTRAINT judgements_candidate_id_fkey FOREIGN KEY (candidate_id) REFERENCES messor.candidates(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.keyword_templates ADD CONSTRAINT keyword_templates_geo_set_id_fkey FOREIGN KEY (geo_set_id) REFERENCES messor.geo_sets(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.keyword_templates ADD CONSTRAINT keyword_templates_vertical_id_fkey FOREIGN KEY (vertical_id) REFERENCES messor.verticals(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.keywords ADD CONSTRAINT keywords_seed_keyword_id_fkey FOREIGN KEY (seed_keyword_id) REFERENCES messor.keywords(id) ON DELETE SET NULL;
ALTER TABLE ONLY messor.keywords ADD CONSTRAINT keywords_serp_profile_id_fkey FOREIGN KEY (serp_profile_id) REFERENCES messor.serp_profiles(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.keywords ADD CONSTRAINT keywords_vertical_id_fkey FOREIGN KEY (vertical_id) REFERENCES messor.verticals(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.lanes ADD CONSTRAINT lanes_host_id_fkey FOREIGN KEY (host_id) REFERENCES messor.hosts(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.login_challenges ADD CONSTRAINT login_challenges_member_id_fkey FOREIGN KEY (member_id) REFERENCES messor.members(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.member_identities ADD CONSTRAINT member_identities_member_id_fkey FOREIGN KEY (member_id) REFERENCES messor.members(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.moved_pictures ADD CONSTRAINT moved_pictures_page_id_fkey FOREIGN KEY (page_id) REFERENCES messor.pages(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.one_time_links ADD CONSTRAINT one_time_links_member_id_fkey FOREIGN KEY (member_id) REFERENCES messor.members(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.orbits ADD CONSTRAINT orbits_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES messor.domains(id) ON DELETE SET NULL;
ALTER TABLE ONLY messor.organisation_domains ADD CONSTRAINT organisation_domains_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES messor.organisations(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.organisation_domains ADD CONSTRAINT organisation_domains_vertical_id_fkey FOREIGN KEY (vertical_id) REFERENCES messor.verticals(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.organisations ADD CONSTRAINT organisations_vertical_id_fkey FOREIGN KEY (vertical_id) REFERENCES messor.verticals(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.parser_pins ADD CONSTRAINT parser_pins_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES messor.domains(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.parser_trials ADD CONSTRAINT parser_trials_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES messor.domains(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.preflights ADD CONSTRAINT preflights_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES messor.domains(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.product_images ADD CONSTRAINT product_images_image_page_id_fkey FOREIGN KEY (image_page_id) REFERENCES messor.pages(id) ON DELETE SET NULL;
ALTER TABLE ONLY messor.recovery_codes ADD CONSTRAINT recovery_codes_member_id_fkey FOREIGN KEY (member_id) REFERENCES messor.second_factors(member_id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.refused_links ADD CONSTRAINT refused_links_host_id_fkey FOREIGN KEY (host_id) REFERENCES messor.hosts(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.robots_files ADD CONSTRAINT robots_files_host_id_fkey FOREIGN KEY (host_id) REFERENCES messor.hosts(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.robots_redirects ADD CONSTRAINT robots_redirects_host_id_fkey FOREIGN KEY (host_id) REFERENCES messor.hosts(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.saved_views ADD CONSTRAINT saved_views_member_id_fkey FOREIGN KEY (member_id) REFERENCES messor.members(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.scores ADD CONSTRAINT scores_vertical_id_fkey FOREIGN KEY (vertical_id) REFERENCES messor.verticals(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.search_answers ADD CONSTRAINT search_answers_request_id_fkey FOREIGN KEY (request_id) REFERENCES messor.search_requests(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.search_requests ADD CONSTRAINT search_requests_keyword_id_fkey FOREIGN KEY (keyword_id) REFERENCES messor.keywords(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.search_requests ADD CONSTRAINT search_requests_serp_profile_id_fkey FOREIGN KEY (serp_profile_id) REFERENCES messor.serp_profiles(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.search_spend ADD CONSTRAINT search_spend_request_id_fkey FOREIGN KEY (request_id) REFERENCES messor.search_requests(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.second_factors ADD CONSTRAINT second_factors_member_id_fkey FOREIGN KEY (member_id) REFERENCES messor.members(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.serp_profiles ADD CONSTRAINT serp_profiles_vertical_id_fkey FOREIGN KEY (vertical_id) REFERENCES messor.verticals(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.serp_results ADD CONSTRAINT serp_results_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES messor.domains(id) ON DELETE SET NULL;
ALTER TABLE ONLY messor.serp_results ADD CONSTRAINT serp_results_snapshot_id_fkey FOREIGN KEY (snapshot_id) REFERENCES messor.serp_snapshots(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.serp_snapshots ADD CONSTRAINT serp_snapshots_judged_in_fkey FOREIGN KEY (judged_in) REFERENCES messor.discovery_sessions(id) ON DELETE SET NULL;
ALTER TABLE ONLY messor.serp_snapshots ADD CONSTRAINT serp_snapshots_keyword_id_fkey FOREIGN KEY (keyword_id) REFERENCES messor.keywords(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.serp_snapshots ADD CONSTRAINT serp_snapshots_request_id_fkey FOREIGN KEY (request_id) REFERENCES messor.search_requests(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.serp_snapshots ADD CONSTRAINT serp_snapshots_serp_profile_id_fkey FOREIGN KEY (serp_profile_id) REFERENCES messor.serp_profiles(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.sessions ADD CONSTRAINT sessions_member_id_fkey FOREIGN KEY (member_id) REFERENCES messor.members(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.sitemaps ADD CONSTRAINT sitemaps_page_id_fkey FOREIGN KEY (page_id) REFERENCES messor.pages(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.submitted_urls ADD CONSTRAINT submitted_urls_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES messor.domains(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.tiles ADD CONSTRAINT tiles_orbit_id_fkey FOREIGN KEY (orbit_id) REFERENCES messor.orbits(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.url_patterns ADD CONSTRAINT url_patterns_host_id_fkey FOREIGN KEY (host_id) REFERENCES messor.hosts(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.vertical_services ADD CONSTRAINT vertical_services_vertical_id_fkey FOREIGN KEY (vertical_id) REFERENCES messor.verticals(id) ON DELETE CASCADE;
ALTER TABLE ONLY messor.vertical_versions ADD CONSTRAINT vertical_versions_vertical_id_fkey FOREIGN KEY (vertical_id) REFERENCES messor.verticals(id) ON DELETE CASCADE;
