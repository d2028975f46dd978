"""What a caller declares to do with what it reads: by its key, or by the query."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query

from messor.access.errors import ForbiddenError
from messor.access.principal import Principal
from messor.api.context import PrincipalDep
from messor.rights.uses import ApprovedUse, parsed

UseQuery = Annotated[
    list[ApprovedUse] | None,
    Query(
        alias="use",
        max_length=20,
        description="What you do with what you read; may be repeated. Without it the uses of your"
        " key count, else those that each domain is approved for",
    ),
]


def declared(principal: Principal, asked: list[ApprovedUse] | None) -> tuple[ApprovedUse, ...]:
    """The uses that count; a key that declares uses cannot declare others by the way."""
    own = parsed(principal.uses)
    if not asked:
        return own
    beyond = sorted(set(asked) - set(own)) if own else []
    if beyond:
        raise ForbiddenError(f"This key was made for {', '.join(own)}, not for {beyond[0]}.")
    return parsed(asked)


def _declared(principal: PrincipalDep, use: UseQuery = None) -> tuple[ApprovedUse, ...]:
    return declared(principal, use)


DeclaredUses = Annotated[tuple[ApprovedUse, ...], Depends(_declared)]
