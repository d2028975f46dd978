"""Search by Elasticsearch or OpenSearch: an index beside PostgreSQL, filled through an outbox."""
