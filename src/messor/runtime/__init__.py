"""The processes: workers, supervisor, components and their watchdogs, the server."""
