"""What happened: events, decisions and errors."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = ("alarms", "errors", "event_types", "events", "queries")
