"""Entities: what records of many pages and sites are about, each merged from its records."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = ("decisions", "follow", "kinds", "queries")
