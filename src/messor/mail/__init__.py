"""Mail: whom do we write to? An outbox, and its delivery by SMTP."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = ("message", "outbox", "server")
