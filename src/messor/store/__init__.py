"""PostgreSQL, embedded or given: server, connections, migrations, clock."""
