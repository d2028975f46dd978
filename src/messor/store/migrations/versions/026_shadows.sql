-- While a trial is shadowing, its candidate reads pages as they come in; after `most` of them it is
-- compared. Trials that read what is stored are compared from the start, and have no such number.
ALTER TABLE messor.parser_trials
  ADD COLUMN most integer CHECK (most > 0),
  DROP CONSTRAINT parser_trials_state_check,
  ADD CONSTRAINT parser_trials_state_check
    CHECK (state IN ('shadowing', 'compared', 'promoted', 'rejected', 'rolled_back'));
-- One candidate shadows a place once, and whoever reads pages asks which do.
CREATE UNIQUE INDEX parser_trials_shadowing ON messor.parser_trials
  (parser, version, coalesce(domain_id, '00000000-0000-0000-0000-000000000000'))
  WHERE state = 'shadowing';
