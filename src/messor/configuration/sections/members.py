"""Members and their roles; a new one has no password and logs in by a link first."""

from __future__ import annotations

from typing import Any

from messor.access import members
from messor.access.principal import LOCAL_ADMIN
from messor.access.roles import Role
from messor.access.typed_text import understand_email
from messor.configuration.model import (
    ApplyContext,
    DeclaredObject,
    PlannedChange,
    Source,
    Values,
    fixed,
)
from messor.errors import UsageError
from messor.store.database import Connection

MOST = 100_000


class DeclaredMember(DeclaredObject):
    """A member as a file declares it."""

    name: str | None = None
    role: Role | None = None
    enabled: bool | None = None


class Members:
    """The section `members`."""

    name = "members"
    declared: type[DeclaredObject] = DeclaredMember
    is_partial = True
    how_removed = "disabled"

    def key(self, name: str) -> str:
        return understand_email(name)

    async def current(self, source: Source, how: ApplyContext) -> dict[str, dict[str, Any]]:
        del how
        return {
            each.email: {
                "name": each.name,
                "role": each.role.value,
                "enabled": each.disabled_at is None,
            }
            for each in await members.listing(source, MOST)
        }

    def check(self, name: str, before: Values | None, wanted: Values) -> None:
        fixed(self.name, name, "name", before, wanted)
        if before is None and not {"name", "role"} <= wanted.keys():
            raise UsageError(f"members.{name}: a new member needs a name and a role.")

    async def apply(self, connection: Connection, change: PlannedChange, how: ApplyContext) -> None:
        del how
        by, wanted = LOCAL_ADMIN, change.wanted
        if change.action == "add":
            member = await members.create(
                connection, email=change.name, name=wanted["name"], role=Role(wanted["role"]), by=by
            )
        else:
            member = await members.get(connection, change.name)
        if wanted.get("enabled") is True:
            member = await members.enable(connection, member, by=by)
        if "role" in wanted:
            member = await members.set_role(connection, member, Role(wanted["role"]), by=by)
        if wanted.get("enabled") is False or change.action == "remove":
            await members.disable(connection, member, by=by)

    def goes(self, before: Values) -> bool:
        return bool(before["enabled"])
