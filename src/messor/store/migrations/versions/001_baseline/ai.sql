-- Calls of external models and what they cost.

-- What was spent so far, for each thing that has a cap. It names no page, so that forgetting a page
-- does not make its cost unspent. A cap on a job counts over all months: its month is 0001-01-01.
CREATE TABLE messor.ai_usage (
  scope text COLLATE "C" NOT NULL CHECK (scope IN ('domain', 'job', 'month')),
  key text COLLATE "C" NOT NULL,
  month date NOT NULL,
  calls bigint NOT NULL DEFAULT 0,
  tokens bigint NOT NULL DEFAULT 0 CHECK (tokens >= 0),
  cost numeric NOT NULL DEFAULT 0 CHECK (cost >= 0),
  used_at timestamptz NOT NULL DEFAULT messor.clock(),
  PRIMARY KEY (scope, key, month)
) WITH (fillfactor = 80);

-- One row per question that was put to a model. While it is 'asked' its tokens and cost are what
-- was set aside for it; afterwards, what it came to. An answer is kept to be used again.
CREATE TABLE messor.ai_calls (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  input_hash bytea NOT NULL CHECK (length(input_hash) = 32),  -- model, prompt version, schema, text
  purpose text NOT NULL,                       -- extract:offer,call_to_action or relevance:funding
  model text NOT NULL,
  prompt_version text NOT NULL,
  page_id bigint,
  snapshot_id bigint,
  domain text COLLATE "C" NOT NULL,
  job text COLLATE "C" NOT NULL,
  month date NOT NULL,                         -- it counts for
  ending text NOT NULL DEFAULT 'asked' CHECK (ending IN (
    'asked', 'answered', 'refused', 'bad_answer', 'truncated', 'timed_out', 'overloaded',
    'unreachable', 'rejected', 'lost')),
  detail text NOT NULL DEFAULT '',             -- in a sentence, when it is not an answer
  tokens bigint NOT NULL,
  cost numeric NOT NULL,
  prompt_tokens bigint,                        -- as the endpoint counted them
  completion_tokens bigint,
  answer jsonb,
  unverified jsonb NOT NULL DEFAULT '[]',      -- values that the page does not support
  asked_at timestamptz NOT NULL DEFAULT messor.clock(),
  ended_at timestamptz
);
-- The same question is put once at a time, and answered once.
CREATE UNIQUE INDEX ai_calls_one_answer ON messor.ai_calls (input_hash)
  WHERE ending IN ('asked', 'answered');
CREATE INDEX ai_calls_input ON messor.ai_calls (input_hash, id DESC);
CREATE INDEX ai_calls_page ON messor.ai_calls (page_id);
CREATE INDEX ai_calls_snapshot ON messor.ai_calls (snapshot_id);
CREATE INDEX ai_calls_month ON messor.ai_calls (month, domain);
-- Whether a cap is reached by what was spent, or only by what calls under way have set aside.
CREATE INDEX ai_calls_under_way ON messor.ai_calls (month, domain) WHERE ending = 'asked';
