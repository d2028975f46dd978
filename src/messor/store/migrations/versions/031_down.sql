DELETE FROM messor.sessions WHERE opened_by = 'identity_provider';
ALTER TABLE messor.sessions
  DROP CONSTRAINT sessions_opened_by_check,
  ADD CONSTRAINT sessions_opened_by_check CHECK (opened_by IN ('password', 'link', 'first_admin'));
DROP TABLE messor.member_identities, messor.login_challenges, messor.recovery_codes, messor.second_factors;
