"""What the schemas of all kinds of records share: a stated value with its evidence."""

from __future__ import annotations

from typing import Annotated, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Value = TypeVar("Value")
Fields = TypeVar("Fields", bound="FieldsModel")

Confidence = Annotated[float, Field(ge=0, le=1)]
Text = Annotated[str, StringConstraints(min_length=1)]
Day = Annotated[str, StringConstraints(pattern=r"^\d{4}-\d{2}-\d{2}$")]
Date = Annotated[
    str,
    StringConstraints(
        pattern=r"^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d+)?([+-]\d{2}:\d{2}(:\d{2})?)?)?$"
    ),
]
Time = Annotated[str, StringConstraints(pattern=r"^([01]\d|2[0-4]):[0-5]\d$")]
Phone = Annotated[str, StringConstraints(pattern=r"^\+[1-9]\d{4,14}$")]
Email = Annotated[str, StringConstraints(pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$")]
Country = Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")]
Currency = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
# As written on the page: a relative one is relative to the page.
Link = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
Amount = Annotated[float, Field(ge=0)]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Proof(Strict):
    """Where a value stands: the method that read it, the literal quote, and the node or key."""

    method: Text
    quote: Text
    path: str


class Stated(Strict, Generic[Value]):
    """A value that the page states, how sure it is, and its evidence."""

    value: Value
    confidence: Confidence
    evidence: Proof


class FieldsModel(Strict):
    """The fields of one kind of record; those that the page does not state are left out."""


class RecordModel(Strict, Generic[Fields]):
    """A record as it is stored and exported."""

    kind: str
    confidence: Confidence
    parser: Text
    parser_version: Text
    fields: Fields


class AddressFields(FieldsModel):
    street: Stated[Text] | None = None
    postal_code: Stated[Text] | None = None
    locality: Stated[Text] | None = None
    region: Stated[Text] | None = None
    country: Stated[Country] | None = None
