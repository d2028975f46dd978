-- Members, their sessions and keys, and what slows down guessing. Secrets are never stored: of tokens and
-- keys the SHA-256, of passwords the Argon2id hash.

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
  opened_by text NOT NULL CHECK (opened_by IN ('password', 'link', 'first_admin', 'identity_provider')),
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

-- A member's second factor: the secret of an authenticator app, sealed with the installation's key.
-- It counts once a code was confirmed; `last_step` is the newest time step whose code was used.
CREATE TABLE messor.second_factors (
  member_id uuid PRIMARY KEY REFERENCES messor.members ON DELETE CASCADE,
  sealed_secret bytea NOT NULL,
  confirmed_at timestamptz,
  last_step bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT messor.clock()
);

-- Ten codes that work once each, for the day the phone is lost; only their SHA-256 is kept.
CREATE TABLE messor.recovery_codes (
  member_id uuid NOT NULL REFERENCES messor.second_factors ON DELETE CASCADE,
  code_hash bytea NOT NULL,
  used_at timestamptz,
  PRIMARY KEY (member_id, code_hash)
);

-- Between the password (or link) and the code.
CREATE TABLE messor.login_challenges (
  token_hash bytea PRIMARY KEY,
  member_id uuid NOT NULL REFERENCES messor.members ON DELETE CASCADE,
  opened_by text NOT NULL,
  expires_at timestamptz NOT NULL
);

-- Who somebody is at an identity provider (OpenID Connect).
CREATE TABLE messor.member_identities (
  issuer text NOT NULL,
  subject text NOT NULL,
  member_id uuid NOT NULL REFERENCES messor.members ON DELETE CASCADE,
  linked_at timestamptz NOT NULL DEFAULT messor.clock(),
  PRIMARY KEY (issuer, subject),
  UNIQUE (member_id, issuer)
);

-- What a caller may still ask for, as the moment at which all of it is his again (GCRA). Losing it
-- in a crash forgives everybody once, so it needs no log.
CREATE UNLOGGED TABLE messor.rate_limits (
  key text COLLATE "C" PRIMARY KEY,
  spent_until timestamptz NOT NULL
) WITH (fillfactor = 50);

-- Answers kept by the key a caller chose, so that the same request sent twice is done once.
CREATE TABLE messor.idempotency_keys (
  owner text COLLATE "C" NOT NULL,             -- who chose it, as events name them
  key text COLLATE "C" NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
  request_hash bytea NOT NULL,                 -- of method, path, query and body
  status smallint,                             -- NULL while the request is under way
  headers jsonb,
  body bytea,                                  -- NULL also where the answer held a secret
  begun_at timestamptz NOT NULL DEFAULT messor.clock(),
  expires_at timestamptz NOT NULL DEFAULT messor.clock() + interval '24 hours',
  PRIMARY KEY (owner, key)
);
CREATE INDEX idempotency_keys_expiry ON messor.idempotency_keys (expires_at);

-- What a person narrowed a list down to, under a name of their own.
CREATE TABLE messor.saved_views (
  id uuid PRIMARY KEY,
  member_id uuid NOT NULL REFERENCES messor.members ON DELETE CASCADE,
  list text COLLATE "C" NOT NULL CHECK (list IN ('domains', 'review', 'tasks')),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 60),
  filters jsonb NOT NULL CHECK (jsonb_typeof(filters) = 'object' AND length(filters::text) <= 4000),
  is_shared boolean NOT NULL DEFAULT false,    -- everybody sees it; its owner alone changes it
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  UNIQUE (member_id, list, name)
);
CREATE INDEX saved_views_shared ON messor.saved_views (list, name) WHERE is_shared;

-- What a member's list opens with; it may be somebody else's view, as long as that is shared.
CREATE TABLE messor.default_views (
  member_id uuid NOT NULL REFERENCES messor.members ON DELETE CASCADE,
  list text COLLATE "C" NOT NULL,
  view_id uuid NOT NULL REFERENCES messor.saved_views ON DELETE CASCADE,
  PRIMARY KEY (member_id, list)
);
CREATE INDEX default_views_view ON messor.default_views (view_id);
