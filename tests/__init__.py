"""The test suite: it mirrors the source, room by room."""
