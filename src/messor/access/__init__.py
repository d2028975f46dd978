"""Authentication and authorisation: members and their roles, logins, sessions and API keys."""
