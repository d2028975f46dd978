"""Clock, ids, masking, logs, sandbox: what every room may use."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = (
    "clock", "fresh", "full_disk", "heartbeat", "ids", "logs", "masking", "memory", "metrics", "plurals", "terminal",
)  # fmt: skip
