"""Tables: orbits, their tiles, and the runs that fill them."""

from __future__ import annotations

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
    json,
    real,
    smallint,
    utc,
    utc_now,
    uuid_key,
)


class OrbitTable(Base):
    """A profile that ingestion fills with tiles."""

    __tablename__ = "orbits"

    id: Mapped[uuid_key]
    slug: Mapped[ctext] = column(
        unique=True, check="slug ~ '^[a-z0-9](-?[a-z0-9]+)*$' AND length(slug) <= 100"
    )
    name: Mapped[str]
    owner: Mapped[str]
    domain_id: Mapped[UUID | None] = column(belongs_to("domains.id", "SET NULL"))
    created_at: Mapped[utc_now]
    updated_at: Mapped[utc_now]


class IngestionRunTable(Base):
    """One run of ingestion, with its evidence."""

    __tablename__ = "ingestion_runs"
    __table_args__ = (
        index("ingestion_runs_orbit", "orbit_slug, started_at DESC"),
        # Runs that are under way, or whose process is gone: always few.
        index("ingestion_runs_open", "started_at", "completed_at IS NULL"),
    )

    id: Mapped[bigint_key]
    trace_id: Mapped[ctext] = column(unique=True)
    orbit_slug: Mapped[ctext]
    mode: Mapped[str] = column(check="mode IN ('light', 'standard', 'user_assisted')")
    url: Mapped[str]
    domain_id: Mapped[UUID | None]
    requested_by: Mapped[str]
    stage: Mapped[str] = column(
        default="'discovering'", check="stage IN ('discovering', 'fetching', 'done')"
    )
    started_at: Mapped[utc_now]
    completed_at: Mapped[utc | None]
    outcome: Mapped[str | None] = column(
        check="outcome IN ('success', 'partial', 'blocked', 'error')"
    )
    evidence: Mapped[json | None]


class IngestionPageTable(Base):
    """A page that a run planned, and why."""

    __tablename__ = "ingestion_pages"

    run_id: Mapped[bigint] = column(belongs_to("ingestion_runs.id"), key=True)
    page_id: Mapped[bigint] = column(key=True)
    position: Mapped[smallint]
    reason: Mapped[str]  # for people
    cached: Mapped[bool] = column(default="false")
    planned_at: Mapped[utc_now | None]  # its cache is judged as it was then
    origin: Mapped[str] = column(
        default="'sampled'",
        check="origin IN ('homepage', 'requested', 'redirect', 'sampled')",
    )


class TileTable(Base):
    """A tile of an orbit."""

    __tablename__ = "tiles"
    __table_args__ = (index("tiles_orbit", "orbit_id, position"),)

    id: Mapped[uuid_key]
    orbit_id: Mapped[UUID] = column(belongs_to("orbits.id"))
    run_id: Mapped[bigint]
    position: Mapped[smallint]
    category: Mapped[str]
    title: Mapped[str]
    summary: Mapped[str]
    items: Mapped[json] = column(default="'[]'")
    source_url: Mapped[str]
    snapshot_id: Mapped[bigint | None]
    confidence: Mapped[real] = column(check="confidence BETWEEN 0 AND 1")
