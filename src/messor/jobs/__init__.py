"""Background work: leased jobs with fencing, retries and dead letters; knows no handler."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = (
    "broker.app", "broker.options", "broker.publisher", "broker.relay", "dead_groups",
    "dead_letter_queries", "dead_letters", "jobs", "patterns", "queries", "redaction",
)  # fmt: skip
