"""Domains: submission, approval, crawl terms and the rules of status changes."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = (
    "domains", "life", "notes", "preflights", "queries", "review", "review_queries",
    "submission_status", "submissions", "terms",
)  # fmt: skip
