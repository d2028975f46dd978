"""A picture of a page's product; `content.products` reads it."""

from __future__ import annotations

from messor.content.kinds.declaration import RecordKind
from messor.content.schemas.base import FieldsModel, Link, Stated, Text


class ImageFields(FieldsModel):
    """A picture of the page's product; pictures are answered in the page's order."""

    url: Stated[Link]
    alt: Stated[Text] | None = None
    thumbnail: Stated[Link] | None = None  # a smaller copy for lists


DECLARATION = RecordKind(
    "image",
    ImageFields,
    identity=(("url",),),
    titles=("url",),
    is_part=True,
    is_checked_by_schema=False,
    needs=("url",),
)
