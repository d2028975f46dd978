"""Tables: records, their history, products."""

from __future__ import annotations

from decimal import Decimal
from uuid import UUID

from sqlalchemy.orm import Mapped

from messor.store.base import (
    Base,
    belongs_to,
    bigint,
    bigint_key,
    column,
    ctext,
    index,
    int_key,
    json,
    real,
    smallint,
    stored,
    unique,
    utc,
    utc_now,
)


class ExtractionTable(Base):
    """What extraction made of a page's newest content, as a whole."""

    __tablename__ = "extractions"
    __table_args__ = (index("extractions_domain", "domain_id, page_type"),)

    page_id: Mapped[bigint] = column(key=True)
    snapshot_id: Mapped[bigint | None]  # NULL: the page is gone
    domain_id: Mapped[UUID]
    page_type: Mapped[str | None]
    page_type_confidence: Mapped[real | None]
    headline: Mapped[str | None]
    main_text: Mapped[str | None]
    markdown: Mapped[str | None]
    metadata_: Mapped[json] = column(name="metadata", default="'{}'")
    flags: Mapped[json] = column(default="'[]'")
    warnings: Mapped[json] = column(default="'[]'")
    # fields and records that were not believed, and why
    rejected: Mapped[json] = column(default="'[]'")
    records: Mapped[int] = column(default="0")
    last_record_at: Mapped[utc | None]  # when the page last stated any record
    extracted_at: Mapped[utc_now]


class RecordTable(Base):
    """A typed statement of a page, with evidence for each field."""

    __tablename__ = "records"
    __table_args__ = (
        unique("page_id, kind, identity"),
        index("records_kind", "kind, domain_id, id", "state = 'current'"),
        index("records_snapshot", "snapshot_id"),
        # Records and products in the orders that people list them in.
        index("records_of_kind", "kind, id"),
        index("records_of_domain", "domain_id, id"),
    )

    id: Mapped[bigint_key]
    page_id: Mapped[bigint]
    snapshot_id: Mapped[bigint]  # the newest that states it
    domain_id: Mapped[UUID]
    kind: Mapped[str]
    identity: Mapped[ctext]  # tells it from others of its kind on the page
    state: Mapped[str] = column(default="'current'", check="state IN ('current', 'removed')")
    confidence: Mapped[real] = column(check="confidence BETWEEN 0 AND 1")
    parser: Mapped[str]
    parser_version: Mapped[str]
    data: Mapped[json]  # values by field
    fields: Mapped[json]  # confidence and evidence by field
    content_hash: Mapped[bytes]  # of the values
    first_seen: Mapped[utc]
    last_seen: Mapped[utc]
    updated_at: Mapped[utc]  # when its values last changed
    removed_at: Mapped[utc | None]


class RecordChangeTable(Base):
    """A change of a field; without a field, of a record as a whole."""

    __tablename__ = "record_changes"
    __table_args__ = (
        index("record_changes_record", "record_id, id"),
        index("record_changes_page", "page_id"),
    )

    id: Mapped[bigint_key]
    record_id: Mapped[bigint]
    page_id: Mapped[bigint]
    snapshot_id: Mapped[bigint | None]
    changed_at: Mapped[utc]  # when the page was seen so
    state: Mapped[str] = column(check="state IN ('new', 'changed', 'removed', 'returned')")
    # the web changed, or its reader did, or a person corrected it
    cause: Mapped[str] = column(check="cause IN ('page', 'parser', 'person')")
    field: Mapped[str | None]
    before: Mapped[json | None]
    after: Mapped[json | None]


class ProductTable(Base):
    """A product, by its page."""

    __tablename__ = "products"
    __table_args__ = (
        index("idx_products_domain_id", "domain_id"),
        index("idx_products_product_name", "left(product_name, 200)"),
        index("idx_products_price", "price"),
        index("idx_products_availability", "availability"),
        index("idx_products_created_at", "created_at"),
        index("idx_products_url_hash", "url_hash"),
        index("idx_products_brand", "left(brand, 200)"),
        index("idx_products_category", "left(category, 200)"),
        index("idx_products_rating", "rating"),
        index("idx_products_updated_at", "updated_at"),
        index("idx_products_domain_newest", "domain_id, created_at, id"),
    )

    id: Mapped[bigint_key]
    record_id: Mapped[bigint] = column(unique=True)
    page_id: Mapped[bigint] = column(unique=True)
    snapshot_id: Mapped[bigint]
    domain_id: Mapped[UUID]
    url: Mapped[ctext]
    url_hash: Mapped[bytes]
    product_name: Mapped[str | None]
    description: Mapped[str | None]
    price: Mapped[Decimal | None]  # NULL when the page states none
    currency: Mapped[str | None]  # never assumed
    availability: Mapped[str | None]
    rating: Mapped[Decimal | None]
    review_count: Mapped[bigint | None]
    brand: Mapped[str | None]
    category: Mapped[str | None]
    sku: Mapped[str | None]
    gtin: Mapped[str | None]
    state: Mapped[str] = column(default="'current'", check="state IN ('current', 'removed')")
    content_hash: Mapped[bytes]
    metadata_: Mapped[json] = column(name="metadata", default="'{}'")  # all other fields
    parser: Mapped[str]
    parser_version: Mapped[str]
    created_at: Mapped[utc]
    updated_at: Mapped[utc]  # only when the content changed
    confidence: Mapped[real] = column(default="0.5", check="confidence BETWEEN 0 AND 1")
    # the page that lists it, until its own page is read
    listing_page_id: Mapped[bigint | None]


class ProductPriceTable(Base):
    """One row per change of price, currency or availability."""

    __tablename__ = "product_prices"
    __table_args__ = (
        index("product_prices_page", "page_id"),
        index("product_prices_seen", "seen_at, product_id"),
    )

    product_id: Mapped[bigint] = column(key=True)
    page_id: Mapped[bigint]
    snapshot_id: Mapped[bigint]
    seen_at: Mapped[utc] = column(key=True)
    price: Mapped[Decimal | None]
    currency: Mapped[str | None]
    availability: Mapped[str | None]
    cause: Mapped[str] = column(default="'page'")


class ArchivedProductTable(Base):
    """A product that went long ago, and its prices, as they were; it comes back with its page."""

    __tablename__ = "archived_products"
    # Compressed, however small: nothing but a return or an erasure reads a row.
    __table_args__ = (unique("page_id"), stored(toast_tuple_target=128))

    id: Mapped[bigint] = column(key=True)  # of the product
    page_id: Mapped[bigint]
    record_id: Mapped[bigint]
    domain_id: Mapped[UUID]
    archived_at: Mapped[utc_now]
    product: Mapped[json]
    prices: Mapped[json]


class ProductImageTable(Base):
    """An image of a product."""

    __tablename__ = "product_images"
    __table_args__ = (
        unique("product_id, url_hash"),
        index("product_images_page", "page_id"),
        index("product_images_fetched", "image_page_id", "image_page_id IS NOT NULL"),
        index("product_images_waiting", "id", "image_page_id IS NULL"),
        index(
            "product_images_segment",
            "split_part(image_path, '@', 1)",
            "image_path IS NOT NULL",
        ),
    )

    id: Mapped[bigint_key]
    product_id: Mapped[bigint]
    page_id: Mapped[bigint]
    image_url: Mapped[str]
    url_hash: Mapped[bytes]  # SHA-256 of the address
    image_path: Mapped[str | None]  # in the store of images; NULL until downloaded
    content_hash: Mapped[bytes | None]
    alt_text: Mapped[str | None]
    image_type: Mapped[str] = column(
        default="'primary'", check="image_type IN ('primary', 'gallery', 'thumbnail')"
    )
    position: Mapped[int] = column(default="0")
    width: Mapped[int | None]
    height: Mapped[int | None]
    file_size: Mapped[int | None]
    created_at: Mapped[utc_now]
    # An image is fetched as a page of its own.
    image_page_id: Mapped[bigint | None] = column(belongs_to("pages.id", "SET NULL"))
    media_type: Mapped[str | None]
    refusal: Mapped[str | None]  # why it is not downloaded
    refused_at: Mapped[utc | None]
    moved_to: Mapped[str | None]  # where it is now, after `moves` redirects
    moves: Mapped[smallint] = column(default="0")


class CorrectionTable(Base):
    """A person's value for a field of a record; NULL: the page does not state it."""

    __tablename__ = "corrections"
    __table_args__ = (
        unique("record_id, snapshot_id, field"),
        index("corrections_in_force", "record_id, field", "state = 'in_force'", unique=True),
        index("corrections_of_pages", "page_id", "state = 'in_force'"),
    )

    id: Mapped[bigint_key]
    record_id: Mapped[bigint]
    snapshot_id: Mapped[bigint]
    domain_id: Mapped[UUID] = column(belongs_to("domains.id"))
    kind: Mapped[str]
    field: Mapped[str]
    found: Mapped[str | None]
    correct: Mapped[str | None] = column(check="correct <> '' AND length(correct) <= 4000")
    corrected_by: Mapped[str]
    corrected_at: Mapped[utc_now]
    page_id: Mapped[bigint]
    # `lesson`: a confirmation, which replaces nothing
    state: Mapped[str] = column(
        default="'lesson'",
        check="state IN ('in_force', 'lapsed', 'withdrawn', 'replaced', 'lesson')",
    )
    value: Mapped[json | None]  # of the field's type
    page_value: Mapped[json | None]  # what the page itself states
    reason: Mapped[str | None] = column(check="length(reason) <= 1000")
    ended_at: Mapped[utc | None]


class RankingTable(Base):
    """Weights that rank competing values of a field, learnt from corrections."""

    __tablename__ = "rankings"
    __table_args__ = (index("rankings_in_force", "in_force", "in_force", unique=True),)

    version: Mapped[int_key]
    fields: Mapped[json]  # weights by field
    measured: Mapped[json]  # by field: examples, domains, usual and learnt accuracy
    learnt_by: Mapped[str]
    learnt_at: Mapped[utc_now]
    in_force: Mapped[bool] = column(default="false")
