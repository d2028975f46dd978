"""Members, sessions and keys in the API; secrets are returned only on creation."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from messor.access.key_policies import (
    DEFAULT_DEPTH,
    DEFAULT_PAGES,
    MOST_DEPTH,
    MOST_DOMAINS,
    MOST_PAGES,
)
from messor.access.keys import MOST_DAYS, USUAL_DAYS, ApiKey
from messor.access.members import Member
from messor.access.roles import Act, Role
from messor.access.sessions import LoginSession
from messor.api.models.base import In, Out, text
from messor.rights.uses import ApprovedUse


class MembersOut(Out):
    items: list[Member]


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


class SessionsOut(Out):
    items: list[LoginSession]


class EndedOut(Out):
    sessions: int


class KeyIn(In):
    name: Annotated[str, text(100, 1)]
    scopes: list[Act] = Field(min_length=1, max_length=50)
    days: int = Field(USUAL_DAYS, ge=1, le=MOST_DAYS)
    uses: list[ApprovedUse] = Field(
        [], max_length=20, description="What its holder does with what it reads"
    )
    member_id: UUID | None = Field(None, description="Another member's id, for admins")


class KeyPolicyIn(In):
    """What a key decides by itself: domains that it approves on first use, and limits."""

    domains: list[Annotated[str, text(253, 1)]] = Field(
        min_length=1, max_length=MOST_DOMAINS, description="Domains, or any"
    )
    max_depth: int = Field(DEFAULT_DEPTH, ge=0, le=MOST_DEPTH)
    pages_a_day: int = Field(DEFAULT_PAGES, ge=1, le=MOST_PAGES)


class KeysOut(Out):
    items: list[ApiKey]


class NewKeyOut(Out):
    key: ApiKey
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
