"""The archive: hashes, snapshots and WARC segments."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = ("erased_bytes", "queries", "snapshot_content", "verification")
