"""Structured data of a page as published, each value with its node.

JSON-LD, microdata and RDFa Lite, not interpreted. The reader on the fetch path (`web/structured.py`)
detects changes and says why it is another one; this one also reads every value of malformed markup.
"""
