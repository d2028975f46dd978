"""Governance: submission, review, pre-flight, purge, erasure and retention."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = (
    "backfill", "block_policy", "decisions", "domain_terms", "domain_uses", "domain_vertical",
    "erasure", "intake", "notices", "owner_queries", "owners", "payment", "person_data",
    "politeness_report", "preflight", "price_queries", "prices", "promotion", "purges",
    "pushes", "rest", "retention", "retention_queries", "site_proofs",
)  # fmt: skip
