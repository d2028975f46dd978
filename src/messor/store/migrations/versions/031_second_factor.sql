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
ALTER TABLE messor.sessions
  DROP CONSTRAINT sessions_opened_by_check,
  ADD CONSTRAINT sessions_opened_by_check
    CHECK (opened_by IN ('password', 'link', 'first_admin', 'identity_provider'));
