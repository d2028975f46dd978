"""How should it be set up? Configuration as files: compared with the database, applied, written."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = ("apply", "compare", "files", "model")
