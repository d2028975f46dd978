"""A principal: the authenticated caller, by session, by key, or on the machine itself."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from messor.access.errors import ForbiddenError, UnauthenticatedError
from messor.access.roles import Act, Role, acts_of


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated caller; `acts` is what they may do, already limited by a key's scopes."""

    member_id: UUID | None  # None: the local user who runs the command
    name: str
    role: Role
    acts: frozenset[Act]
    session_id: UUID | None = None
    key_id: UUID | None = None
    uses: tuple[str, ...] = ()  # what a key declares to do with what it reads
    must_enrol: bool = False  # a second factor is required, but not set up yet

    @property
    def actor(self) -> str:
        """The caller's name in events and `submitted_by`: without personal data."""
        if self.key_id is not None:
            return f"key:{self.key_id}"
        return self.name if self.member_id is None else f"member:{self.member_id}"

    def may(self, act: Act) -> bool:
        return act in self.acts


LOCAL_ADMIN = Principal(None, "local-admin", Role.ADMIN, acts_of(Role.ADMIN))


def authorise(principal: Principal | None, act: Act) -> Principal:
    """Return the principal if they may do it; otherwise raise the error that says why not."""
    if principal is None:
        raise UnauthenticatedError("Log in first, or send an API key.")
    if principal.may(act):
        return principal
    if principal.must_enrol:
        raise ForbiddenError("Set up two-factor login first: My account in the console.")
    if principal.key_id is not None and act in acts_of(principal.role):
        raise ForbiddenError(f"This API key does not have the scope {act}.")
    raise ForbiddenError(f"The role {principal.role} does not include {act}.")


def authorise_for(principal: Principal, member_id: UUID) -> Principal:
    """As `authorise`: everybody may manage their own account, only admins those of others."""
    is_own = principal.member_id == member_id
    return authorise(principal, Act.ACCOUNT_OWN if is_own else Act.MEMBERS_MANAGE)
