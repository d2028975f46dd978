"""Tables and questions of analytics, in every store and in PostgreSQL itself."""
