"""Manual import: pages that a person saved become snapshots, without a request to their site."""
