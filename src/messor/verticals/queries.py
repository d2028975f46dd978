"""Queries of verticals, and the filter by vertical that the lists of other rooms use."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

VerticalText = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,62}$")]


def of_vertical(alias: str) -> str:
    """The condition that a row belongs to the vertical of a name."""
    return f"{alias}.vertical_id = (SELECT id FROM messor.verticals WHERE name = {{}})"
