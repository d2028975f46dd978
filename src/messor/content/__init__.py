"""Page content: from bytes to metadata, page type, main content and records; no I/O."""
