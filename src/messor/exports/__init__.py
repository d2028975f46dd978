"""How does it get out? Files of every noun, resumable, with the filters of the lists."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = ("formats", "nouns", "places", "queries", "requests", "run")
