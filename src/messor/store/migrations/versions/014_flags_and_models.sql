-- Migration 014: calls of outside models and what they cost; relevance of pages, what reviewers
-- say of it, and the classifiers learnt from that.

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

-- Whether a page is about a vertical's topic, as last judged.
CREATE TABLE messor.page_flags (
  page_id bigint NOT NULL,
  vertical text COLLATE "C" NOT NULL,
  snapshot_id bigint,
  relevant boolean,                            -- NULL: nobody can tell yet
  score real NOT NULL CHECK (score BETWEEN 0 AND 1),
  reasons jsonb NOT NULL DEFAULT '[]',
  model_version text NOT NULL,
  flagged_at timestamptz NOT NULL DEFAULT messor.clock(),
  PRIMARY KEY (page_id, vertical)
);
CREATE INDEX page_flags_borderline ON messor.page_flags (vertical, abs(score - 0.5), page_id);
CREATE INDEX page_flags_snapshot ON messor.page_flags (snapshot_id);

-- What reviewers said of flags: the newest decision on a page stands, and classifiers learn from it.
-- The words are kept, so that learning does not need the archive.
CREATE TABLE messor.flag_decisions (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  page_id bigint NOT NULL,
  vertical text COLLATE "C" NOT NULL,
  domain text COLLATE "C" NOT NULL,
  relevant boolean NOT NULL,
  flagged boolean,                             -- what the flag had said
  overturned boolean NOT NULL,
  model_version text NOT NULL,
  reason text NOT NULL DEFAULT '',
  lexical real NOT NULL,                       -- the score by rules at that time
  title text NOT NULL,
  sample text NOT NULL,                        -- of the page's text
  decided_by text NOT NULL,
  decided_at timestamptz NOT NULL DEFAULT messor.clock()
);
CREATE INDEX flag_decisions_page ON messor.flag_decisions (page_id, vertical, id DESC);
CREATE INDEX flag_decisions_vertical ON messor.flag_decisions (vertical, id);

-- Classifiers learnt from decisions; at most one of a vertical judges.
CREATE TABLE messor.relevance_models (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  vertical text COLLATE "C" NOT NULL,
  version integer NOT NULL CHECK (version > 0),
  state text NOT NULL CHECK (state IN ('on', 'refused', 'off')),
  reason text NOT NULL,                        -- why it judges, or does not
  decisions integer NOT NULL,
  measured jsonb NOT NULL,                     -- by cross-validation, against the rules
  weights jsonb NOT NULL,
  trained_by text NOT NULL,
  trained_at timestamptz NOT NULL DEFAULT messor.clock(),
  UNIQUE (vertical, version)
);
CREATE UNIQUE INDEX relevance_models_on ON messor.relevance_models (vertical) WHERE state = 'on';
