-- Claims up to `wanted` lanes for a worker, each with slots of its domain and of its address. A worker may
-- ask only for the lanes of one domain and those on which the robots.txt of that domain's hosts is read; or
-- of them only for those that have something to do for one run.
-- Transaction-level advisory locks make "count the slots, then take one" atomic per domain and address
-- without touching a row; a contended one is left to the next call. Counting happens in a statement of its
-- own, after the locks, so that its snapshot is true.
-- Lanes of a domain outside its crawl hours, or whose bytes of the day are used up, are put off until they may be
-- visited again; nothing is claimed while that holds for all domains together.
-- Lanes take turns by `messor.lane_turn`; a domain of low priority has its turn after it could be claimed, so
-- the search goes on as far as the lowest priority in use.
CREATE OR REPLACE FUNCTION messor.claim_lanes(worker bigint, wanted integer, default_delay real,
                                              address_slots integer, look_ahead real,
                                              slow_wanted integer, only_domain uuid DEFAULT NULL,
                                              only_run uuid DEFAULT NULL)
RETURNS TABLE (host_id bigint, token bigint, claimed_at timestamptz, slots smallint,
               delay real, ready_in float8)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  t timestamptz := messor.clock();
  candidates bigint[];
  full_domains uuid[];
  full_addresses text[];
  open_domains uuid[];
  open_addresses text[];
  last_turn timestamp;
BEGIN
  PERFORM FROM messor.worker_leases w
    WHERE w.id = worker AND w.ended_at IS NULL AND w.expires_at > t FOR KEY SHARE;  -- a flush renews beside it; the reaper waits
  IF NOT FOUND THEN RETURN; END IF;
  IF messor.all_closed_until(t) IS NOT NULL THEN RETURN; END IF;

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

  last_turn := messor.lane_turn(t + make_interval(secs => look_ahead), greatest(5, (
    SELECT max(d.priority) FROM messor.domains d WHERE d.priority <> 5))::smallint);
  SELECT array_agg(c.host_id) INTO candidates FROM (
    SELECT l.host_id FROM messor.lanes l
     WHERE l.worker_id IS NULL AND l.claim_at <= t + make_interval(secs => look_ahead)
       AND messor.lane_turn(l.claim_at, l.priority) <= last_turn
       AND (slow_wanted > 0 OR NOT l.slow)
       AND (only_domain IS NULL OR (l.domain_id = only_domain AND (only_run IS NULL OR l.host_id IN (
              SELECT k.host_id FROM messor.crawl_run_tasks(only_run) k
               WHERE k.due_at <= t + make_interval(secs => look_ahead)))) OR l.host_id IN (
              SELECT p.host_id FROM messor.robots_redirects e JOIN messor.hosts h ON h.id = e.host_id
                JOIN messor.pages p ON p.id = e.page_id WHERE h.domain_id = only_domain))
       AND l.domain_id <> ALL (coalesce(full_domains, '{}'))
       AND (l.address IS NULL OR l.address <> ALL (coalesce(full_addresses, '{}')))
     ORDER BY messor.lane_turn(l.claim_at, l.priority) LIMIT wanted * 2 FOR UPDATE SKIP LOCKED) c;
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
    SELECT l.host_id, l.domain_id, l.address, messor.lane_turn(l.claim_at, l.priority) AS turn, l.slow,
           l.mode_delay, l.mode_until,
           d.max_concurrent_requests AS cap, d.crawl_delay_seconds, r.crawl_delay,
           messor.risk_at(h.risk_score, h.risk_at, t) AS risk,
           -- A domain is skipped while its main host is critical, a host while it is itself.
           greatest(messor.critical_until(h.risk_score, h.risk_at),
                    messor.critical_until(m.risk_score, m.risk_at)) AS critical_until,
           coalesce(l.assisted_until > t, false) AS assisted,
           messor.closed_until(d.id, d.crawl_hours, d.time_zone, t) AS closed_until
      FROM messor.lanes l
      JOIN messor.domains d ON d.id = l.domain_id AND messor.may_visit(d.status, d.active, l.preflight)
      JOIN messor.hosts h ON h.id = l.host_id
      LEFT JOIN messor.hosts m ON m.id = d.main_host_id
      LEFT JOIN messor.robots_files r ON r.id = h.robots_id
     WHERE l.host_id = ANY (candidates) AND l.domain_id = ANY (open_domains)
       AND (l.address IS NULL OR l.address = ANY (open_addresses))
  ), wish AS (
    SELECT s.host_id, s.domain_id, s.address, s.turn, s.slow, s.cap, p.delay,
           CASE WHEN p.delay = 0 THEN s.cap ELSE 1 END AS want
      FROM standing s
      CROSS JOIN LATERAL (SELECT greatest(
             coalesce(s.crawl_delay_seconds, CASE WHEN s.mode_until > t THEN s.mode_delay END,
                      default_delay),
             messor.risk_delay(s.risk), coalesce(s.crawl_delay, 0))::real AS delay) p
     WHERE s.closed_until IS NULL AND (s.assisted OR s.critical_until IS NULL OR s.critical_until <= t)
  ), domain_use AS (
    SELECT l.domain_id, sum(l.slots) AS used FROM messor.lanes l
     WHERE l.worker_id IS NOT NULL AND l.domain_id = ANY (open_domains) GROUP BY 1
  ), address_use AS (
    SELECT l.address, sum(l.slots) AS used FROM messor.lanes l
     WHERE l.worker_id IS NOT NULL AND l.address = ANY (open_addresses) GROUP BY 1
  ), granted AS (
    SELECT w.host_id, w.delay, w.turn, w.slow, least(w.want,
             w.cap - coalesce(du.used, 0)
               - coalesce(sum(w.want) OVER (PARTITION BY w.domain_id ORDER BY w.turn, w.host_id
                          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0),
             CASE WHEN w.address IS NULL THEN w.want ELSE address_slots - coalesce(au.used, 0)
               - coalesce(sum(w.want) OVER (PARTITION BY w.address ORDER BY w.turn, w.host_id
                          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) END
           )::smallint AS slots
      FROM wish w LEFT JOIN domain_use du USING (domain_id) LEFT JOIN address_use au USING (address)
  ), chosen AS (
    SELECT * FROM (
      SELECT g.*, count(*) FILTER (WHERE g.slow) OVER (ORDER BY g.turn, g.host_id) AS slow_rank
        FROM granted g WHERE g.slots > 0) g
     WHERE NOT g.slow OR g.slow_rank <= slow_wanted ORDER BY g.turn LIMIT wanted
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
    UPDATE messor.lanes l SET claim_at = greatest(s.closed_until, CASE WHEN NOT s.assisted THEN s.critical_until END)
      FROM standing s
     WHERE l.host_id = s.host_id
       AND (s.closed_until IS NOT NULL OR (NOT s.assisted AND s.critical_until > t))
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
