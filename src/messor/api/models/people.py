"""Members, sessions and keys in the API; secrets are returned only on creation."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from messor.access.keys import MOST_DAYS, USUAL_DAYS
from messor.access.roles import Act, Role
from messor.api.models.base import In, Out, text


class MemberOut(Out):
    id: UUID
    email: str
    name: str
    role: Role
    has_password: bool
    disabled_at: datetime | None
    last_login_at: datetime | None
    created_by: str
    created_at: datetime


class MembersOut(Out):
    items: list[MemberOut]


class MemberIn(In):
    email: Annotated[str, text(254, 3)]
    name: Annotated[str, text(100, 1)]
    role: Role


class MemberChangeIn(In):
    """Missing fields stay unchanged."""

    role: Role | None = None
    disabled: bool | None = None


class LinkOut(Out):
    """A one-time login link, returned only once."""

    path: str
    expires_at: datetime


class LoginSessionOut(Out):
    id: UUID
    member_id: UUID
    opened_by: str
    address: str | None
    user_agent: str | None
    opened_at: datetime
    last_seen_at: datetime
    ends_at: datetime


class SessionsOut(Out):
    items: list[LoginSessionOut]


class EndedOut(Out):
    sessions: int


class KeyIn(In):
    name: Annotated[str, text(100, 1)]
    scopes: list[Act] = Field(min_length=1, max_length=50)
    days: int = Field(USUAL_DAYS, ge=1, le=MOST_DAYS)
    member_id: UUID | None = Field(None, description="Another member's id, for admins")


class KeyOut(Out):
    id: UUID
    member_id: UUID
    member: str
    name: str
    prefix: str
    scopes: list[Act]
    created_by: str
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    last_used_address: str | None
    revoked_at: datetime | None
    revoked_by: str | None
    is_good: bool


class KeysOut(Out):
    items: list[KeyOut]


class NewKeyOut(Out):
    key: KeyOut
    secret: str = Field(description="The full key, returned only once")


class WhoOut(Out):
    """The authenticated caller and its permissions."""

    member_id: UUID | None
    name: str
    role: Role
    acts: list[Act]
    by_key: bool
    csrf_token: str | None = Field(
        description="For the header X-CSRF-Token; null for callers with a key"
    )
