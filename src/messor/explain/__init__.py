"""Explanations: why something happened, and what the rules say. Nothing here fetches or stores."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = ("inspect", "rights", "robots_check", "why")
