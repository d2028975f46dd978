"""PostgreSQL, embedded or external: server, connections, migrations, queries."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = (
    "database", "dsn", "embedded.patch_level", "embedded.programs", "listing", "losses", "migrate",
    "notifications", "revisions", "session", "space",
)  # fmt: skip
