"""Discovery: search engines, keywords, result pages, judges and candidates."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = (
    "candidate_queries", "candidate_review", "candidates", "costs", "engines.registry",
    "expansion", "explore", "keyword_queries", "keywords", "search", "serp_queries", "serps",
    "session_queries", "tiers", "track",
)  # fmt: skip
