"""The archive: hashes, snapshots and WARC segments."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = (
    "compaction",
    "erased_bytes",
    "garbage",
    "queries",
    "relocation",
    "snapshot_content",
    "status",
    "storage",
    "text_moves",
    "texts",
    "verification",
)
