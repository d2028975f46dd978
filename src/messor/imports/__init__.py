"""Imports of saved pages: HTML, MHTML, WARC, HAR, folders; nothing is fetched."""
