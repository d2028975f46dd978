"""The archive: hashes, snapshots and WARC segments."""
