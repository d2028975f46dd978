"""Governance: submission, review, pre-flight, purge and erasure."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = (
    "backfill", "block_policy", "decisions", "erasure", "intake", "preflight", "promotion",
    "purges", "rest",
)  # fmt: skip
