"""Schemas of records: one pydantic model for each kind, published as JSON Schema in `docs/records`.

`python -m messor.content.schemas docs/records` writes them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from messor.content.records import Record
from messor.content.schemas.base import RecordModel
from messor.content.schemas.business import (
    CallToActionFields,
    ContactFields,
    OfferFields,
    OpeningHoursFields,
    OrganisationFields,
    PriceItemFields,
    ServiceFields,
)
from messor.content.schemas.products import (
    ImageFields,
    ProductFields,
    ProductOfferFields,
    ProductVariantFields,
)
from messor.content.schemas.programs import (
    EventFields,
    FaqFields,
    FundingProgramFields,
    OpportunityFields,
)

SCHEMAS: Mapping[str, type[RecordModel[Any]]] = MappingProxyType(
    {
        "contact": RecordModel[ContactFields],
        "organisation": RecordModel[OrganisationFields],
        "opening_hours": RecordModel[OpeningHoursFields],
        "offer": RecordModel[OfferFields],
        "call_to_action": RecordModel[CallToActionFields],
        "service": RecordModel[ServiceFields],
        "opportunity": RecordModel[OpportunityFields],
        "price_item": RecordModel[PriceItemFields],
        "funding_program": RecordModel[FundingProgramFields],
        "faq": RecordModel[FaqFields],
        "event": RecordModel[EventFields],
    }
)
# Products are checked by rules in `validation`, which are cheaper on shop pages.
PRODUCT_SCHEMAS: Mapping[str, type[RecordModel[Any]]] = MappingProxyType(
    {
        "product": RecordModel[ProductFields],
        "product_offer": RecordModel[ProductOfferFields],
        "product_variant": RecordModel[ProductVariantFields],
        "image": RecordModel[ImageFields],
    }
)


def schema_files() -> dict[str, str]:
    """Return the JSON Schema of each kind by file name."""
    found = {}
    for kind, model in (*SCHEMAS.items(), *PRODUCT_SCHEMAS.items()):
        schema = model.model_json_schema()
        schema = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **schema,
            "title": kind,
        }
        schema["properties"]["kind"] = {"const": kind}
        found[f"{kind}.json"] = json.dumps(schema, indent=2, sort_keys=True) + "\n"
    return found


def problems(record: Record) -> list[str]:
    """Return the schema violations of a record as sentences; empty if it is valid."""
    model = SCHEMAS.get(record.kind) or PRODUCT_SCHEMAS.get(record.kind)
    if model is None:
        return [f"There is no schema of records called {record.kind!r}."]
    try:
        model.model_validate(record.as_json())
    except ValidationError as error:
        return [
            f"{'.'.join(str(part) for part in each['loc'])}: {each['msg']}."
            for each in error.errors()
        ]
    return []
