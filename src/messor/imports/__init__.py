"""Saved pages in: HTML, MHTML, WARC, HAR, folders; nothing is fetched."""
