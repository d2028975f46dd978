-- Migration 012: what the API needs of its own.

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

-- Who is told of events. Each has its own place in the ledger, in commit order.
CREATE TABLE messor.webhooks (
  id uuid PRIMARY KEY,
  url text NOT NULL CHECK (length(url) <= 2000),
  types text[] NOT NULL DEFAULT '{}',          -- empty: every type
  secret bytea NOT NULL,                       -- sealed
  is_active boolean NOT NULL DEFAULT true,
  tx xid8 NOT NULL,                            -- everything up to here was handed on
  event_id bigint NOT NULL,
  successes bigint NOT NULL DEFAULT 0,
  failures bigint NOT NULL DEFAULT 0,
  failure_count integer NOT NULL DEFAULT 0,    -- in a row
  last_success_at timestamptz,
  last_failure_at timestamptz,
  last_error text,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT messor.clock()
);
