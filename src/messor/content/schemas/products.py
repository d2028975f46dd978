"""Schemas of products, of their offers and variants, and of images."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from messor.content.schemas.base import Amount, Currency, FieldsModel, Link, Stated, Text

Availability = Literal["in_stock", "out_of_stock", "preorder", "backorder", "discontinued"]
Condition = Literal["new", "used", "refurbished", "damaged"]
Gtin = Annotated[str, StringConstraints(pattern=r"^(\d{8}|\d{9}[\dX]|\d{12,14})$")]
Rating = Annotated[float, Field(ge=0, le=5)]
Number = Annotated[str, StringConstraints(min_length=1, max_length=100)]


class PricedFields(FieldsModel):
    price: Stated[Amount] | None = None
    currency: Stated[Currency] | None = None
    availability: Stated[Availability] | None = None
    sku: Stated[Number] | None = None
    gtin: Stated[Gtin] | None = None
    url: Stated[Link] | None = None


class ProductFields(PricedFields):
    """What a page sells; its offers and variants, when it has several, are records of their own."""

    product_name: Stated[Text] | None = None
    description: Stated[Text] | None = None
    list_price: Stated[Amount] | None = None
    rating: Stated[Rating] | None = None
    review_count: Stated[Annotated[int, Field(ge=0)]] | None = None
    brand: Stated[Text] | None = None
    category: Stated[Text] | None = None
    mpn: Stated[Number] | None = None
    color: Stated[Text] | None = None
    condition: Stated[Condition] | None = None
    seller: Stated[Text] | None = None


class ProductOfferFields(PricedFields):
    """One seller's or one kind of offer of the page's product."""

    seller: Stated[Text] | None = None
    condition: Stated[Condition] | None = None


class ProductVariantFields(PricedFields):
    """One size, colour or other variant of the page's product."""

    product_name: Stated[Text] | None = None
    mpn: Stated[Number] | None = None
    color: Stated[Text] | None = None
    size: Stated[Text] | None = None


class ImageFields(FieldsModel):
    """A picture of the page's product; pictures are answered in the page's order."""

    url: Stated[Link]
    alt: Stated[Text] | None = None
