"""A record kind that Messor does not have, declared as its own are: in one file, and listed once.

A pytest plugin, so that the list is complete before anything derives from it.
"""

from __future__ import annotations

from types import MappingProxyType

from messor.content import kinds
from messor.content.kinds.build import make, property_field
from messor.content.kinds.declaration import RecordKind
from messor.content.records import Record
from messor.content.schemas.base import FieldsModel, Stated, Text
from messor.content.view import PageView

KIND = "bicycle"


class BicycleFields(FieldsModel):
    frame_number: Stated[Text]
    colour: Stated[Text] | None = None


def find(page: PageView) -> list[Record]:
    found = [
        make(
            KIND,
            {
                "frame_number": property_field(item, "frameNumber"),
                "colour": property_field(item, "color"),
            },
            needs=("frame_number",),
        )
        for item in page.items_of(frozenset(("Bicycle",)))
    ]
    return [record for record in found if record is not None]


DECLARATION = RecordKind(
    KIND,
    BicycleFields,
    identity=(("frame_number",),),
    subject="frame_number",
    find=find,
    prompt="a bicycle by its frame number",
    normalisers={"colour": None},
    is_eventful=True,
)

kinds.KINDS = MappingProxyType({**kinds.KINDS, KIND: DECLARATION})
