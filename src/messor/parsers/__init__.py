"""Parsers: what extracts records from pages, in which version, and which parser reads which page."""

from messor.parsers.builtin import BUILTIN
from messor.parsers.protocol import Parser, Selective
from messor.parsers.registry import GROUP, Parsers

__all__ = ["BUILTIN", "GROUP", "Parser", "Parsers", "Selective"]

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = (
    "health", "output_check", "page_parts", "page_reading", "page_text", "pins", "registry", "repairs", "scaffold", "trials",
)  # fmt: skip
