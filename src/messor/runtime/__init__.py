"""Which processes run? Workers, supervisor, components and their watchdogs, the server."""
