"""What does a page say? From bytes to metadata, type, main content and records; no I/O."""
