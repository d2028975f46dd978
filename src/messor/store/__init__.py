"""PostgreSQL, embedded or external: server, connections, migrations, queries."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = (
    "client_programs", "database", "dsn", "embedded.patch_level", "listing", "losses", "migrate",
    "notifications", "revisions", "session", "space",
)  # fmt: skip
