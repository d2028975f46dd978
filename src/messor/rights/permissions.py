"""Permissions on file: an admin's statement that a use is permitted, whatever a site says to everybody.

Own content, a contract, or a permission in writing, with a reason and if possible the document. It
is an event, it can expire, and it is revoked rather than deleted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal, Self, get_args
from uuid import UUID

from messor.core.ids import new_id
from messor.errors import ConflictError, NotFoundError, UsageError
from messor.ledger.events import Event, record
from messor.rights.uses import ApprovedUse
from messor.store.database import Connection, Database

Basis = Literal["own_content", "contract", "permission"]
MAX_DOCUMENT = 5_000_000
MAX_REASON = 2_000

COLUMNS = """q.id, d.domain, q.use, q.basis, q.reason, q.document_name, q.expires_on, q.granted_by,
  q.granted_at, q.revoked_by, q.revoked_at,
  q.revoked_at IS NULL AND (q.expires_on IS NULL OR q.expires_on >= (SELECT messor.clock())::date)
    AS is_in_force"""
TABLE = "messor.use_permissions q JOIN messor.domains d ON d.id = q.domain_id"
ADD = """
INSERT INTO messor.use_permissions (id, domain_id, use, basis, reason, document_name, document,
                                    expires_on, granted_by)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
"""
GET = f"SELECT {COLUMNS} FROM {TABLE} WHERE q.id = $1"
DOCUMENT = "SELECT document_name, document FROM messor.use_permissions WHERE id = $1"
REVOKE = """
UPDATE messor.use_permissions SET revoked_by = $2, revoked_at = messor.clock()
 WHERE id = $1 AND revoked_at IS NULL RETURNING domain_id
"""


@dataclass(frozen=True, slots=True)
class Permission:
    """A permission, without its document."""

    id: UUID
    domain: str
    use: ApprovedUse
    basis: Basis
    reason: str
    document_name: str | None
    expires_on: date | None
    granted_by: str
    granted_at: datetime
    revoked_by: str | None
    revoked_at: datetime | None
    is_in_force: bool

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        return cls(**{**row, "use": ApprovedUse(row["use"])})


@dataclass(frozen=True, slots=True)
class NewPermission:
    """What an admin puts on file."""

    use: ApprovedUse
    basis: Basis
    reason: str
    document_name: str | None = None
    document: bytes | None = None
    expires_on: date | None = None

    def __post_init__(self) -> None:
        if self.basis not in get_args(Basis):
            raise UsageError(f"The basis must be one of {', '.join(get_args(Basis))}.")
        if not self.reason.strip() or len(self.reason) > MAX_REASON:
            raise UsageError(f"Give a reason of at most {MAX_REASON:,} characters.")
        if self.document is not None and len(self.document) > MAX_DOCUMENT:
            raise UsageError(f"The document has more than {MAX_DOCUMENT:,} bytes.")


async def grant(
    connection: Connection, domain_id: UUID, given: NewPermission, *, actor: str
) -> Permission:
    """Put a permission on file; it counts at once."""
    permission_id = new_id()
    name = (given.document_name or "document")[-200:] if given.document is not None else None
    await connection.execute(
        ADD, permission_id, domain_id, given.use.value, given.basis, given.reason.strip(), name,
        given.document, given.expires_on, actor,
    )  # fmt: skip
    made = await get(connection, permission_id)
    about = {
        "permission": str(made.id),
        "use": made.use.value,
        "basis": made.basis,
        "reason": made.reason,
        "document": made.document_name,
    }
    await record(connection, [Event("permission.granted", actor, domain_id, data=about)])
    return made


async def get(source: Connection | Database, permission_id: UUID) -> Permission:
    row = await source.fetchrow(GET, permission_id)
    if row is None:
        raise NotFoundError("There is no such permission. List them: messor permissions list")
    return Permission.of(row)


async def document_of(source: Connection | Database, permission_id: UUID) -> tuple[str, bytes]:
    """The name and the bytes of the attached document."""
    row = await source.fetchrow(DOCUMENT, permission_id)
    if row is None or row["document"] is None:
        raise NotFoundError("This permission has no document.")
    return row["document_name"], row["document"]


async def revoke(connection: Connection, permission: Permission, *, actor: str) -> Permission:
    """Revoke a permission; from now on the site's statements count again."""
    domain_id = await connection.fetchval(REVOKE, permission.id, actor)
    if domain_id is None:
        raise ConflictError("This permission was revoked already.")
    about = {"permission": str(permission.id), "use": permission.use.value}
    await record(connection, [Event("permission.revoked", actor, domain_id, data=about)])
    return await get(connection, permission.id)
