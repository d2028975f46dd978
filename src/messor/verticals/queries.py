"""Queries of organisations, and the filter by vertical that the lists of other rooms use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from pydantic import Field

from messor.store.listing import DomainText, Filters, Listing, both_ways, where

VerticalText = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,62}$")]


def of_vertical(alias: str) -> str:
    """The condition that a row belongs to the vertical of a name."""
    return f"{alias}.vertical_id = (SELECT id FROM messor.verticals WHERE name = {{}})"


@dataclass(frozen=True, slots=True)
class Organisation:
    id: UUID
    name: str
    location: str | None
    external_id: str | None
    domains: list[str]


class OrganisationFilter(Filters):
    """Filters of organisations."""

    q: str | None = where(
        "strpos(lower(o.name), lower({})) > 0", "Part of the name", max_length=300
    )
    vertical: VerticalText | None = where(of_vertical("o"), "Vertical")
    domain: DomainText | None = where(
        """EXISTS (SELECT FROM messor.organisation_domains x
                    WHERE x.organisation_id = o.id AND x.domain = {})""",
        "Domain it owns",
    )


ORGANISATIONS = Listing(
    name="organisations",
    item=Organisation,
    filters=OrganisationFilter,
    table="messor.organisations",
    alias="o",
    columns="""o.id, o.name, o.location, o.external_id, ARRAY(
      SELECT d.domain FROM messor.organisation_domains d
       WHERE d.organisation_id = o.id ORDER BY d.domain) AS domains""",
    key_type="uuid",
    orders={
        **both_ways("name", "o.name", "text", "Name, A to Z", "Name, Z to A"),
        **both_ways("-created_at", "o.created_at", "timestamptz", "Newest first", "Oldest first"),
    },
)
