"""The array types of PostgreSQL itself, which the driver need not look up.

asyncpg knows the element types, but asks the server for each array type on each new connection, by
a recursive query over the catalogue: 6 ms, more than everything else that a short-lived connection
does. The identifiers below belong to PostgreSQL and are the same on every server; types of other
kinds are still looked up.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import SimpleNamespace
from typing import Any

import asyncpg

# Name and identifier of each element type, by the identifier of its array type (pg_type.dat).
ELEMENTS = {
    199: ("json", 114), 1000: ("bool", 16), 1001: ("bytea", 17), 1005: ("int2", 21),
    1007: ("int4", 23), 1015: ("varchar", 1043), 1016: ("int8", 20), 1021: ("float4", 700),
    1022: ("float8", 701), 1041: ("inet", 869), 1115: ("timestamp", 1114), 1182: ("date", 1082),
    1183: ("time", 1083), 1185: ("timestamptz", 1184), 1187: ("interval", 1186),
    1231: ("numeric", 1700), 2951: ("uuid", 2950), 3807: ("jsonb", 3802),
}  # fmt: skip
_NO_QUERY = SimpleNamespace(name="no query was sent")  # else the driver repeats its own statement


def _described(oid: int) -> Mapping[str, object]:
    """An array type as the driver's query describes it."""
    name, element = ELEMENTS[oid]
    return {
        "oid": oid, "ns": "pg_catalog", "name": f"_{name}", "kind": b"b", "basetype": None,
        "elemtype": element, "elemdelim": b",", "range_subtype": None, "attrtypoids": None,
        "attrnames": None, "depth": 0, "basetype_name": None, "elemtype_name": name,
        "range_subtype_name": None,
    }  # fmt: skip


class ArrayConnection(asyncpg.Connection):  # type: ignore[misc] # asyncpg has no types
    """A connection that knows the array types above.

    The method is not public in asyncpg; without it, types would be looked up again.
    """

    __slots__ = ()

    async def _introspect_types(
        self,
        typeoids: Collection[int],
        timeout: float,  # noqa: ASYNC109 - asyncpg's signature
    ) -> Any:
        if all(oid in ELEMENTS for oid in typeoids):
            return [_described(oid) for oid in typeoids], _NO_QUERY
        return await super()._introspect_types(typeoids, timeout)
