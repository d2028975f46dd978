"""Structured data of a page, as published, each value with the node it stands in.

JSON-LD, microdata, RDFa Lite and meta tags; what they mean is left to the parsers. The reading on
the fetch path (`web/structured.py`) only wants to know whether something changed; this one wants
every value of sloppy markup as well.
"""
