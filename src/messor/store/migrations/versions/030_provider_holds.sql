-- A service that answers 429 counts all workers together: until when none of them asks it again,
-- and how often the wait was doubled because it did not say for how long.
CREATE TABLE messor.provider_holds (
  provider   text PRIMARY KEY,
  held_until timestamptz NOT NULL,
  doublings  integer NOT NULL,
  reason     text NOT NULL
);
