DROP INDEX messor.parser_trials_shadowing;
UPDATE messor.parser_trials SET state = 'compared' WHERE state = 'shadowing';
ALTER TABLE messor.parser_trials
  DROP COLUMN most,
  DROP CONSTRAINT parser_trials_state_check,
  ADD CONSTRAINT parser_trials_state_check
    CHECK (state IN ('compared', 'promoted', 'rejected', 'rolled_back'));
