"""Tables: versions of parsers: pins and trials."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy.orm import Mapped

from messor.store.base import (
    Base,
    Keyless,
    belongs_to,
    column,
    ctext,
    index,
    json,
    utc,
    utc_now,
    uuid_key,
)


class ParserPinTable(Keyless):
    """Which version of a parser reads pages; without a row the newest does."""

    __tablename__ = "parser_pins"
    __table_args__ = (
        index(
            "parser_pins_place",
            "parser, coalesce(domain_id, '00000000-0000-0000-0000-000000000000')",
            unique=True,
        ),
    )

    parser: Mapped[ctext]
    domain_id: Mapped[UUID | None] = column(belongs_to("domains.id"))  # NULL: everywhere
    version: Mapped[ctext]
    previous: Mapped[ctext | None]  # what read before, to go back to
    pinned_by: Mapped[str]
    pinned_at: Mapped[utc_now]


class ParserTrialTable(Base):
    """A candidate version compared with what is stored, or shadowing."""

    __tablename__ = "parser_trials"
    __table_args__ = (
        # One candidate shadows a place once, and whoever reads pages asks which do.
        index(
            "parser_trials_shadowing",
            "parser, version, coalesce(domain_id, '00000000-0000-0000-0000-000000000000')",
            "state = 'shadowing'",
            unique=True,
        ),
    )

    id: Mapped[uuid_key]
    parser: Mapped[ctext]
    version: Mapped[ctext]
    domain_id: Mapped[UUID | None] = column(belongs_to("domains.id"))  # NULL: everywhere
    state: Mapped[str] = column(
        default="'compared'",
        check="state IN ('shadowing', 'compared', 'promoted', 'rejected', 'rolled_back')",
    )
    pages: Mapped[int]
    report: Mapped[json]
    started_by: Mapped[str]
    started_at: Mapped[utc_now]
    decided_by: Mapped[str | None]
    decided_at: Mapped[utc | None]
    reason: Mapped[str | None]
    most: Mapped[int | None] = column(check="most > 0")  # pages that a shadowing trial reads
