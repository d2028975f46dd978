"""A stand-in for Elasticsearch and OpenSearch, in the parts of their protocol that Messor speaks."""
