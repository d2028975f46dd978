"""What was seen? Hashes, snapshots and WARC segments."""
