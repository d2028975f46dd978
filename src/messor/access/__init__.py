"""Authentication and authorisation: members and their roles, logins, sessions and API keys."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = (
    "csrf", "errors", "key_policies", "keys", "links", "login", "members", "origin", "passwords", "principal",
    "ratelimits", "roles", "saved_views", "second_factor", "secret", "sessions", "typed_text",
)  # fmt: skip
