"""Record kinds, one module each: fields, identity, title, reader, prompt, what is eventful.

`KINDS` lists them in the order in which a page's records are returned. Everything else derives from
it: JSON Schemas, questions to models, choices of verticals, titles, events, validation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from messor.content.kinds import (
    call_to_action,
    contact,
    event,
    faq,
    funding_program,
    image,
    listed_product,
    offer,
    opening_hours,
    opportunity,
    organisation,
    price_item,
    product,
    product_offer,
    product_variant,
    service,
)
from messor.content.kinds.declaration import RecordKind
from messor.content.records import Record
from messor.content.view import PageView

KINDS: Mapping[str, RecordKind] = MappingProxyType(
    {
        module.DECLARATION.name: module.DECLARATION
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
            product,
            listed_product,
            product_offer,
            product_variant,
            image,
        )
    }
)


def find_records(page: PageView, kinds: Iterable[str] | None = None) -> list[Record]:
    """Return the records that a page states; of these kinds, or of all but products."""
    wanted = KINDS.keys() if kinds is None else kinds
    return [
        record
        for kind in KINDS.values()
        if kind.find is not None and kind.name in wanted
        for record in kind.find(page)
    ]
