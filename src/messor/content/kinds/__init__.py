"""Record readers, one module per kind: `find(page)` returns the records a page states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from messor.content.kinds import (
    call_to_action,
    contact,
    event,
    faq,
    funding_program,
    offer,
    opening_hours,
    opportunity,
    organisation,
    price_item,
    service,
)
from messor.content.records import Record
from messor.content.view import PageView

Finder = Callable[[PageView], list[Record]]

FINDERS: Mapping[str, Finder] = MappingProxyType(
    {
        module.KIND: module.find
        for module in (
            contact,
            organisation,
            opening_hours,
            offer,
            call_to_action,
            service,
            opportunity,
            price_item,
            funding_program,
            faq,
            event,
        )
    }
)


def find_records(page: PageView) -> list[Record]:
    """Return all records of these kinds that a page states."""
    return [record for find in FINDERS.values() for record in find(page)]
