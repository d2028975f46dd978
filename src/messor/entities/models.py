"""Tables: entities, what pages state about them, and which statements were compared."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy.orm import Mapped

from messor.store.base import (
    Base,
    bigint,
    bigint_key,
    check,
    column,
    index,
    json,
    real,
    unique,
    utc,
    utc_now,
    xid8,
)

_KINDS = "kind IN ('organisation', 'product', 'program', 'service', 'place')"


class EntityTable(Base):
    """One thing, merged over its statements; a removed one may lead to the one that took them."""

    __tablename__ = "entities"
    __table_args__ = (
        index("entities_updated", "kind, updated_at, id", "state = 'current'"),
        index("entities_newest", "updated_at, id", "state = 'current'"),
        index("entities_title", "kind, left(title, 200), id", "state = 'current'"),
        index("entities_domains", "kind, domains, id", "state = 'current'"),
    )

    id: Mapped[bigint_key]
    kind: Mapped[str] = column(check=_KINDS)
    state: Mapped[str] = column(default="'current'", check="state IN ('current', 'removed')")
    merged_into: Mapped[bigint | None]
    title: Mapped[str] = column(default="''")
    data: Mapped[json] = column(default="'{}'")  # values by field
    fields: Mapped[json] = column(default="'{}'")  # by field: the record, who agrees, other values
    domains: Mapped[int] = column(default="0")
    statements: Mapped[int] = column(default="0")
    records: Mapped[int] = column(default="0")
    created_at: Mapped[utc_now]
    updated_at: Mapped[utc_now]


class EntityStatementTable(Base):
    """What one domain says about one thing, on however many pages."""

    __tablename__ = "entity_statements"
    __table_args__ = (
        unique("kind, domain_id, identity_hash"),
        index("entity_statements_entity", "entity_id"),
    )

    id: Mapped[bigint_key]
    kind: Mapped[str] = column(check=_KINDS)
    domain_id: Mapped[UUID]
    identity_hash: Mapped[bytes]
    entity_id: Mapped[bigint | None]
    record_id: Mapped[bigint | None]  # the best of its records; NULL when none is left
    records: Mapped[int] = column(default="0")
    features: Mapped[json] = column(default="'{}'")


class EntityMemberTable(Base):
    """A record, and the statement it belongs to; a record can be about a thing of several kinds."""

    __tablename__ = "entity_members"
    __table_args__ = (index("entity_members_statement", "statement_id"),)

    record_id: Mapped[bigint] = column(key=True)
    kind: Mapped[str] = column(key=True, check=_KINDS)
    statement_id: Mapped[bigint]


class EntityKeyTable(Base):
    """Statements that share a key are compared."""

    __tablename__ = "entity_keys"
    __table_args__ = (index("entity_keys_statement", "statement_id"),)

    key_hash: Mapped[bytes] = column(key=True)
    statement_id: Mapped[bigint] = column(key=True)


class EntityPairTable(Base):
    """Two statements that agree, and what a person said of them."""

    __tablename__ = "entity_pairs"
    __table_args__ = (
        unique("first, second"),
        check("first < second"),
        check("(verdict IS NULL) = (decided_by IS NULL)"),
        index("entity_pairs_second", "second"),
        index(
            "entity_pairs_proposed",
            "score, id",
            "verdict IS NULL AND score < 0.9::real",
        ),
        index("entity_pairs_decided", "kind, rule", "verdict IS NOT NULL"),
    )

    id: Mapped[bigint_key]
    first: Mapped[bigint]
    second: Mapped[bigint]
    kind: Mapped[str] = column(check=_KINDS)
    score: Mapped[real]
    rule: Mapped[str]
    basis: Mapped[str]
    verdict: Mapped[str | None] = column(check="verdict IN ('same', 'different')")
    decided_by: Mapped[str | None]
    decided_at: Mapped[utc | None]
    reason: Mapped[str | None]


class EntityPositionTable(Base):
    """How far the change feed was followed; one row. `filled_to` is NULL once all older records were read."""

    __tablename__ = "entity_position"

    is_only: Mapped[bool] = column(key=True, default="true", check="is_only")
    tx: Mapped[xid8]
    change_id: Mapped[bigint]
    filled_to: Mapped[bigint | None]
