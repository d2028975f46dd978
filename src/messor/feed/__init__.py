"""What changed, in commit order: entries with before, after and evidence, and tombstones."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = ("chunk_feed", "queries")
