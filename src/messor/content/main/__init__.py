"""Main content: what a page is there for, as plain text and as markdown, without the site around it."""

from messor.content.main.extract import MainContent, read_main

__all__ = ["MainContent", "read_main"]
