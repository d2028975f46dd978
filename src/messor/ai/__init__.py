"""Extraction with an external model: optional, capped, and accepted only where the page agrees."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = ("queries",)
