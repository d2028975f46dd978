"""What happened: events, decisions and errors."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = (
    "alarms", "checkpoints", "errors", "event_types", "events", "queries", "seal_audit", "seal_report",
    "sealer",
)  # fmt: skip
