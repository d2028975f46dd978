"""Tables: verticals, what their files contain, and organisations."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy.orm import Mapped

from messor.store.base import (
    Base,
    belongs_to,
    column,
    ctext,
    index,
    json,
    unique,
    utc_now,
    uuid_key,
)


class VerticalTable(Base):
    """A vertical as last applied: `definition` is the validated file, `source` the file itself."""

    __tablename__ = "verticals"

    id: Mapped[uuid_key]
    name: Mapped[ctext] = column(unique=True, check="name ~ '^[a-z][a-z0-9_]{0,62}$'")
    title: Mapped[str] = column(check="btrim(title) <> ''")
    version: Mapped[int] = column(check="version > 0")
    on_block: Mapped[str] = column(default="'respect'", check="on_block IN ('respect', 'failover')")
    definition: Mapped[json]
    source: Mapped[str]
    source_hash: Mapped[bytes] = column(check="length(source_hash) = 32")
    applied_by: Mapped[str]
    applied_at: Mapped[utc_now]
    created_at: Mapped[utc_now]


class VerticalVersionTable(Base):
    """A file that was once in force; a version stands for one content."""

    __tablename__ = "vertical_versions"

    vertical_id: Mapped[UUID] = column(belongs_to("verticals.id"), key=True)
    version: Mapped[int] = column(key=True, check="version > 0")
    source: Mapped[str]
    source_hash: Mapped[bytes] = column(check="length(source_hash) = 32")
    applied_by: Mapped[str]
    applied_at: Mapped[utc_now]


class VerticalServiceTable(Base):
    """A service of a vertical."""

    __tablename__ = "vertical_services"
    __table_args__ = (unique("vertical_id, service_name"),)

    id: Mapped[uuid_key] = column(default="gen_random_uuid()")
    vertical_id: Mapped[UUID] = column(belongs_to("verticals.id"))
    service_name: Mapped[str] = column(check="btrim(service_name) <> ''")
    synonyms: Mapped[list[str]] = column(default="'{}'")
    intent: Mapped[str] = column(
        default="'commercial'",
        check="intent IN ('commercial', 'informational', 'navigational', 'transactional')",
    )
    active: Mapped[bool] = column(default="true")  # false once the file no longer names it


class SerpProfileTable(Base):
    """Where and how a vertical's result pages are requested."""

    __tablename__ = "serp_profiles"
    __table_args__ = (unique("vertical_id, name"),)

    id: Mapped[uuid_key] = column(default="gen_random_uuid()")
    vertical_id: Mapped[UUID] = column(belongs_to("verticals.id"))
    name: Mapped[str] = column(check="btrim(name) <> ''")
    gl: Mapped[str] = column(default="'sg'", check="gl ~ '^[a-z]{2}$'")
    hl: Mapped[str] = column(default="'en'", check="hl ~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$'")
    device: Mapped[str] = column(
        default="'desktop'", check="device IN ('desktop', 'mobile', 'tablet')"
    )
    location: Mapped[str] = column(default="'Singapore'")
    uule: Mapped[str | None]
    active: Mapped[bool] = column(default="true")


class GeoSetTable(Base):
    """Places that keyword templates combine with."""

    __tablename__ = "geo_sets"
    __table_args__ = (index("geo_sets_vertical", "vertical_id"),)

    id: Mapped[uuid_key] = column(default="gen_random_uuid()")
    vertical_id: Mapped[UUID] = column(belongs_to("verticals.id"))
    name: Mapped[str] = column(unique=True)  # "vertical.set", so that verticals never share one
    modifiers: Mapped[list[str]] = column(check="cardinality(modifiers) > 0")
    priority_order: Mapped[int] = column(default="0")


class KeywordTemplateTable(Base):
    """A template that keywords are made from."""

    __tablename__ = "keyword_templates"
    __table_args__ = (
        index("keyword_templates_vertical", "vertical_id"),
        index("keyword_templates_geo_set", "geo_set_id"),
    )

    id: Mapped[uuid_key] = column(default="gen_random_uuid()")
    vertical_id: Mapped[UUID] = column(belongs_to("verticals.id"))
    template: Mapped[str] = column(check="template LIKE '%{service}%'")
    geo_set_id: Mapped[UUID | None] = column(belongs_to("geo_sets.id"))
    language: Mapped[str] = column(default="'en'")


class OrganisationTable(Base):
    """A clinic, a shop, a funder."""

    __tablename__ = "organisations"
    __table_args__ = (unique("vertical_id, name_key"),)

    id: Mapped[uuid_key]
    vertical_id: Mapped[UUID] = column(belongs_to("verticals.id"))
    name: Mapped[str] = column(check="btrim(name) <> '' AND length(name) <= 300")
    name_key: Mapped[ctext]  # the name as it is compared
    location: Mapped[str | None] = column(check="length(location) <= 300")
    external_id: Mapped[str | None] = column(check="length(external_id) <= 200")
    created_by: Mapped[str]
    created_at: Mapped[utc_now]
    updated_at: Mapped[utc_now]


class OrganisationDomainTable(Base):
    """A domain's one owner within a vertical; it need not be in the registry."""

    __tablename__ = "organisation_domains"
    __table_args__ = (index("organisation_domains_organisation", "organisation_id"),)

    vertical_id: Mapped[UUID] = column(belongs_to("verticals.id"), key=True)
    domain: Mapped[ctext] = column(key=True, check="domain <> '' AND domain = lower(domain)")
    organisation_id: Mapped[UUID] = column(belongs_to("organisations.id"))
    created_at: Mapped[utc_now]
