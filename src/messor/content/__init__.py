"""Page content: from bytes to metadata, page type, main content and records; no I/O."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = ("evidence", "plain")
