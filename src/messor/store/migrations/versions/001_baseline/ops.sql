-- Webhooks.

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
