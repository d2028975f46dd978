"""Verticals as files, and the organisations that belong to them."""

# Modules that the interfaces may import.
PUBLIC: tuple[str, ...] = (
    "differences", "files", "model", "organisation_import", "organisations", "queries",
    "verticals",
)  # fmt: skip
