"""Imports of saved pages: HTML, MHTML, WARC, HAR, folders; nothing is fetched."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = ("import_run", "sources")
