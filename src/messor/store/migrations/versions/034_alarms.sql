-- What is wrong with the running installation now; a process repeats its own while they stand.
CREATE TABLE messor.alarms (
  place text NOT NULL,                         -- machine and process
  name text NOT NULL,                          -- disk, clock, or a component
  said text NOT NULL,
  raised_at timestamptz NOT NULL DEFAULT messor.clock(),
  seen_at timestamptz NOT NULL DEFAULT messor.clock(),
  PRIMARY KEY (place, name)
);
