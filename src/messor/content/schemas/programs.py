"""Schemas of what one can take part in, apply for or ask."""

from __future__ import annotations

from typing import Literal

from messor.content.schemas.base import (
    Amount,
    Currency,
    Date,
    Day,
    FieldsModel,
    Link,
    Stated,
    Text,
)
from messor.content.schemas.business import AddressFields

Sort = Literal[
    "job", "internship", "apprenticeship", "volunteering", "scholarship", "tender", "call", "course"
]


class OpportunityFields(FieldsModel):
    title: Stated[Text]
    type: Stated[Sort] | None = None
    organisation: Stated[Text] | None = None
    location: Stated[Text] | None = None
    employment_type: Stated[Text] | None = None
    published: Stated[Day] | None = None
    deadline: Stated[Day] | None = None
    salary: Stated[Amount] | None = None
    currency: Stated[Currency] | None = None
    description: Stated[Text] | None = None
    url: Stated[Link] | None = None


class FundingProgramFields(FieldsModel):
    name: Stated[Text]
    funder: Stated[Text] | None = None
    amount: Stated[Amount] | None = None
    currency: Stated[Currency] | None = None
    deadline: Stated[Day] | None = None
    eligibility: Stated[Text] | None = None
    region: Stated[Text] | None = None
    description: Stated[Text] | None = None
    url: Stated[Link] | None = None


class FaqFields(FieldsModel):
    question: Stated[Text]
    answer: Stated[Text]


class EventFields(AddressFields):
    name: Stated[Text]
    start: Stated[Date]
    end: Stated[Date] | None = None
    location: Stated[Text] | None = None
    organiser: Stated[Text] | None = None
    description: Stated[Text] | None = None
    price: Stated[Amount] | None = None
    currency: Stated[Currency] | None = None
    url: Stated[Link] | None = None
