"""Who are you? Members and their roles, logins, sessions and API keys."""
