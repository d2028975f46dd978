"""The embedded PostgreSQL: programs, account, data folder, process. `store.server` drives it."""
