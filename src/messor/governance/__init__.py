"""Governance: submission, review, pre-flight, purge and erasure."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = (
    "backfill", "block_policy", "decisions", "domain_terms", "domain_uses",
    "domain_vertical", "erasure", "intake", "notices",
    "preflight", "promotion", "purges", "rest",
)  # fmt: skip
