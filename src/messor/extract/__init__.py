"""What does it say? Metadata, page type, main content and typed records, each field with its evidence."""
