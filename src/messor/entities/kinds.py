"""The kinds of entities, and which of them a record can be about."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from messor.entities.match import EntityKind
from messor.entities.organisations import ORGANISATION
from messor.entities.places import PLACE
from messor.entities.products import PRODUCT
from messor.entities.programs import PROGRAM
from messor.entities.services import SERVICE

KINDS: Mapping[str, EntityKind] = MappingProxyType(
    {each.name: each for each in (ORGANISATION, PRODUCT, PROGRAM, SERVICE, PLACE)}
)
SOURCES = frozenset(source for each in KINDS.values() for source in each.sources)
