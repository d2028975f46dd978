"""Governance: submission, review, pre-flight, purge, erasure and retention."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = (
    "backfill", "block_policy", "decisions", "domain_terms", "domain_uses",
    "domain_vertical", "erasure", "intake", "notices",
    "payment", "preflight", "price_queries", "prices", "promotion", "purges", "rest", "retention",
    "retention_queries",
)  # fmt: skip
