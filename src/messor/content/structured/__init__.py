"""Structured data of a page as published, each value with its node.

JSON-LD, microdata, RDFa Lite and meta tags, not interpreted. The reader on the fetch path
(`web/structured.py`) only detects changes; this one also reads every value of malformed markup.
"""
