"""What the rooms' models are made of: the base class, column types, and short forms of constraints.

A room's `models.py` declares each of its tables once. Nothing reads or writes through these
classes: they are what `alembic revision --autogenerate` and a test compare a database with.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, ClassVar
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Date,
    Double,
    ForeignKey,
    Identity,
    Index,
    MetaData,
    Numeric,
    SmallInteger,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import (
    ARRAY,
    BYTEA,
    INTERVAL,
    JSONB,
    REAL,
    TIMESTAMP,
    TSVECTOR,
)
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.orm import DeclarativeBase, MappedColumn, declared_attr, mapped_column
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import UserDefinedType


class Xid8(UserDefinedType[int]):
    """The number of a transaction."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "xid8"


ischema_names["xid8"] = Xid8  # so that reflection knows it

_CLOCK = text("messor.clock()")

bigint = Annotated[int, "bigint"]
smallint = Annotated[int, "smallint"]
real = Annotated[float, "real"]
ctext = Annotated[str, "compared byte by byte"]
json = Annotated[object, "jsonb"]
tsvector = Annotated[str, "tsvector"]
xid8 = Annotated[int, "xid8"]
utc = Annotated[datetime, "timestamptz"]
utc_now = Annotated[datetime, mapped_column(TIMESTAMP(timezone=True), server_default=_CLOCK)]
bigint_id = Annotated[int, mapped_column(BigInteger, Identity(always=True))]  # of a log
int_number = Annotated[int, mapped_column(Identity(always=True), unique=True)]  # beside a key
int_key = Annotated[int, mapped_column(Identity(always=True), primary_key=True)]
bigint_key = Annotated[int, mapped_column(BigInteger, Identity(always=True), primary_key=True)]
uuid_key = Annotated[UUID, mapped_column(Uuid, primary_key=True)]


class Base(DeclarativeBase):
    """Every table is in the schema `messor`."""

    metadata = MetaData(schema="messor")
    type_annotation_map: ClassVar[Mapping[Any, Any]] = {
        str: Text,
        ctext: Text(collation="C"),
        bytes: BYTEA,
        bigint: BigInteger,
        smallint: SmallInteger,
        real: REAL,
        float: Double,
        Decimal: Numeric,
        UUID: Uuid,
        date: Date,
        timedelta: INTERVAL,
        utc: TIMESTAMP(timezone=True),
        json: JSONB,
        list[str]: ARRAY(Text),
        list[UUID]: ARRAY(Uuid),
        list[int]: ARRAY(BigInteger),
        tsvector: TSVECTOR,
        xid8: Xid8,
    }


class Keyless(Base):
    """A table without a primary key, as logs are: a mapper wants to know what tells rows apart."""

    __abstract__ = True

    @declared_attr.directive
    def __mapper_args__(cls) -> dict[str, Any]:  # noqa: N805 - SQLAlchemy passes the class
        return {"primary_key": list(cls.__table__.columns)}


def column(
    *items: SchemaItem,
    name: str | None = None,
    default: str | None = None,
    check: str | None = None,
    key: bool = False,
    unique: bool | None = None,
) -> MappedColumn[Any]:
    """A column: `default` and `check` are SQL, `key` makes it part of the primary key.

    `name` is for a column whose name is taken, by Python or by SQLAlchemy.
    """
    checks = [] if check is None else [CheckConstraint(check)]
    server_default = None if default is None else text(default)
    return mapped_column(
        *items,
        *checks,
        name=name,
        server_default=server_default,
        primary_key=key,
        autoincrement=False,
        unique=unique,
    )


def belongs_to(place: str, on_delete: str = "CASCADE", name: str | None = None) -> ForeignKey:
    """A foreign key to a column of another table, such as `domains.id`."""
    return ForeignKey(f"messor.{place}", ondelete=on_delete, name=name)


def check(condition: str, name: str | None = None) -> CheckConstraint:
    return CheckConstraint(condition, name=name)


def unique(columns: str, **options: Any) -> UniqueConstraint:
    return UniqueConstraint(*columns.split(", "), **options)


def index(name: str, columns: str, where: str | None = None, **options: Any) -> Index:
    """An index over columns and expressions as in SQL; `where` makes it partial."""
    parts = re.split(r", (?![^(]*\))", columns)
    if where is not None:
        options["postgresql_where"] = text(where)
    return Index(name, *(part if part.isidentifier() else text(part) for part in parts), **options)


def stored(*, unlogged: bool = False, **parameters: float) -> dict[str, Any]:
    """Storage parameters of a table, such as its fillfactor; `unlogged` ones a crash empties."""
    return {"postgresql_with": parameters, "prefixes": ["UNLOGGED"] if unlogged else []}


def by_month(column: str) -> dict[str, Any]:
    """A log, partitioned by the month of a column; `messor.make_partitions` makes its partitions."""
    return {"postgresql_partition_by": f"RANGE ({column})"}
