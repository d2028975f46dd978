"""Counts in sentences: `1 page`, `2 pages`."""

from __future__ import annotations


def counted(count: int, what: str) -> str:
    """`1 page`, `2 pages`."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
