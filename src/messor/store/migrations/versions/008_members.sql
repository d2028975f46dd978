-- Migration 008: members, what lets them in, and what slows down those who guess.
-- Secrets are never stored: of tokens and keys the SHA-256, of passwords the Argon2id hash.

CREATE TABLE messor.members (
  id uuid PRIMARY KEY,
  email text COLLATE "C" NOT NULL UNIQUE
    CHECK (email = lower(email) AND strpos(email, '@') > 1 AND length(email) <= 254),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  role text NOT NULL CHECK (role IN ('admin', 'reviewer', 'submitter', 'viewer')),
  password_hash text CHECK (starts_with(password_hash, '$argon2id$')),  -- NULL: only a link lets them in
  password_changed_at timestamptz,
  disabled_at timestamptz,
  last_login_at timestamptz,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  updated_at timestamptz NOT NULL DEFAULT messor.clock()
);
CREATE INDEX members_admins ON messor.members (id) WHERE role = 'admin' AND disabled_at IS NULL;

-- Rows outlive their session: where somebody came from before tells a known address from a stranger's.
CREATE TABLE messor.sessions (
  id uuid PRIMARY KEY,
  member_id uuid NOT NULL REFERENCES messor.members ON DELETE CASCADE,
  token_hash bytea NOT NULL UNIQUE CHECK (length(token_hash) = 32),
  opened_by text NOT NULL CHECK (opened_by IN ('password', 'link', 'first_admin')),
  address text,
  network text COLLATE "C" NOT NULL,           -- what counts as one address
  user_agent text CHECK (length(user_agent) <= 300),
  idle interval NOT NULL,                      -- it ends when nothing was heard for this long
  opened_at timestamptz NOT NULL DEFAULT messor.clock(),
  last_seen_at timestamptz NOT NULL DEFAULT messor.clock(),
  expires_at timestamptz NOT NULL,
  ended_at timestamptz,                        -- logged out or revoked
  CHECK (expires_at > opened_at)
) WITH (fillfactor = 70);
CREATE INDEX sessions_member ON messor.sessions (member_id, opened_at DESC);
CREATE INDEX sessions_expiry ON messor.sessions (expires_at);

CREATE TABLE messor.one_time_links (
  id uuid PRIMARY KEY,
  purpose text NOT NULL CHECK (purpose IN ('first_admin', 'login')),
  member_id uuid REFERENCES messor.members ON DELETE CASCADE,
  token_hash bytea NOT NULL UNIQUE CHECK (length(token_hash) = 32),
  created_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  expires_at timestamptz NOT NULL,
  ended_at timestamptz,                        -- used or revoked
  CHECK ((purpose = 'login') = (member_id IS NOT NULL))
);
CREATE INDEX one_time_links_member ON messor.one_time_links (member_id);
CREATE INDEX one_time_links_expiry ON messor.one_time_links (expires_at);

CREATE TABLE messor.api_keys (
  id uuid PRIMARY KEY,
  member_id uuid NOT NULL REFERENCES messor.members ON DELETE CASCADE,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  prefix text COLLATE "C" NOT NULL UNIQUE,     -- the part that may be shown
  secret_hash bytea NOT NULL CHECK (length(secret_hash) = 32),
  scopes text[] NOT NULL CHECK (cardinality(scopes) > 0),
  created_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  expires_at timestamptz NOT NULL,
  last_used_at timestamptz,
  last_used_address text,
  revoked_at timestamptz,
  revoked_by text,
  CHECK (expires_at > created_at),
  CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
) WITH (fillfactor = 70);
CREATE INDEX api_keys_member ON messor.api_keys (member_id, created_at DESC);

-- Attempts to log in, by account, by address, or by both for somebody who came from there before.
CREATE TABLE messor.login_throttles (
  key text COLLATE "C" PRIMARY KEY,
  attempts integer NOT NULL,
  attempted_at timestamptz NOT NULL,
  open_at timestamptz NOT NULL,                -- before this no attempt is taken
  is_told boolean NOT NULL DEFAULT false       -- the ledger knows that somebody was turned away
) WITH (fillfactor = 50);

-- Charges one attempt to all keys, or to none when one of them has to wait, and answers how long.
-- The charge comes before the password is looked at, so guesses made at once are not cheaper than
-- guesses in a row. Who is turned away is charged nothing: a stranger cannot prolong the wait.
-- After the fifth attempt the wait is 10 s; it doubles up to 5 minutes. An hour of quiet after it
-- forgives all.
CREATE FUNCTION messor.charge_login(keys text[], OUT wait interval, OUT is_news boolean)
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

-- What a caller may still ask for, as the moment at which all of it is his again (GCRA). Losing it
-- in a crash forgives everybody once, so it needs no log.
CREATE UNLOGGED TABLE messor.rate_limits (
  key text COLLATE "C" PRIMARY KEY,
  spent_until timestamptz NOT NULL
) WITH (fillfactor = 50);
