"""Schemas of what an organisation says of itself and of what it offers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from messor.content.schemas.base import (
    Amount,
    Country,
    Currency,
    Day,
    Email,
    FieldsModel,
    Link,
    Phone,
    Stated,
    Strict,
    Text,
    Time,
)

Action = Literal[
    "book", "buy", "contact", "call", "quote", "sign_up", "trial", "download", "subscribe",
    "donate", "apply", "learn_more",
]  # fmt: skip
Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
Percent = Annotated[float, Field(ge=0, le=999)]


class Span(Strict):
    """From when to when, in local time; closing before opening means the next day."""

    opens: Time
    closes: Time


class AddressFields(FieldsModel):
    street: Stated[Text] | None = None
    postal_code: Stated[Text] | None = None
    locality: Stated[Text] | None = None
    region: Stated[Text] | None = None
    country: Stated[Country] | None = None


class ContactFields(AddressFields):
    """A person or a place that can be reached, a social profile, or a form."""

    name: Stated[Text] | None = None
    role: Stated[Text] | None = None
    email: Stated[Email] | None = None
    phone: Stated[Phone] | None = None
    phone_text: Stated[Text] | None = None
    fax: Stated[Phone] | None = None
    network: Stated[Text] | None = None
    profile: Stated[Link] | None = None
    form_action: Stated[Link] | None = None
    form_message: Stated[Text] | None = None


class OrganisationFields(AddressFields):
    name: Stated[Text]
    legal_name: Stated[Text] | None = None
    description: Stated[Text] | None = None
    url: Stated[Link] | None = None
    email: Stated[Email] | None = None
    phone: Stated[Phone] | None = None
    vat_id: Stated[Text] | None = None
    logo: Stated[Link] | None = None
    founded: Stated[Text] | None = None
    price_range: Stated[Text] | None = None


class OpeningHoursFields(FieldsModel):
    """Days with their hours; no span at all means closed."""

    days: Stated[list[Weekday]]
    hours: Stated[list[Span]] | None = None
    opens: Stated[Time] | None = None
    closes: Stated[Time] | None = None
    valid_from: Stated[Day] | None = None
    valid_through: Stated[Day] | None = None


class OfferFields(FieldsModel):
    title: Stated[Text]
    description: Stated[Text] | None = None
    price: Stated[Amount] | None = None
    currency: Stated[Currency] | None = None
    discount_percent: Stated[Percent] | None = None
    discount_amount: Stated[Amount] | None = None
    code: Stated[Text] | None = None
    valid_until: Stated[Day] | None = None
    url: Stated[Link] | None = None


class CallToActionFields(FieldsModel):
    label: Stated[Text]
    action: Stated[Action]
    url: Stated[Link] | None = None


class ServiceFields(FieldsModel):
    name: Stated[Text]
    description: Stated[Text] | None = None
    provider: Stated[Text] | None = None
    area: Stated[Text] | None = None
    price: Stated[Amount] | None = None
    currency: Stated[Currency] | None = None
    url: Stated[Link] | None = None


class PriceItemFields(FieldsModel):
    """An item of a price list or a menu."""

    name: Stated[Text]
    description: Stated[Text] | None = None
    price: Stated[Amount] | None = None
    currency: Stated[Currency] | None = None
    unit: Stated[Text] | None = None
    section: Stated[Text] | None = None
