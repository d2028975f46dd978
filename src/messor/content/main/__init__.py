"""Main content of a page as plain text and markdown, without the site's boilerplate."""

from messor.content.main.extract import MainContent, read_main

__all__ = ["MainContent", "read_main"]
