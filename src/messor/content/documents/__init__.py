"""What does a document say? PDF, office, e-book and mail files as HTML, for the readers of pages.

A document becomes one HTML text: headings, paragraphs, lists, tables, links, and a section for each
page, sheet or slide. From there on it is read like any page, and quotes of evidence are literal
pieces of that text. Converters take bytes and return text; they open nothing else. Their libraries
may crash on hostile files, so callers run them in the sandbox.
"""
