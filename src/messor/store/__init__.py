"""PostgreSQL, embedded or external: server, connections, migrations, queries."""
