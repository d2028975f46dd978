-- Back to 007.
DROP FUNCTION messor.charge_login(text[]);
DROP TABLE messor.rate_limits, messor.login_throttles, messor.api_keys, messor.one_time_links,
  messor.sessions, messor.members;
