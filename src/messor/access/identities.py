"""Identities: maps a login at an identity provider to a member.

A member is identified by issuer and subject; the first time, by a verified e-mail address.
"""

from __future__ import annotations

from uuid import UUID

from messor.access import members
from messor.access.errors import WrongCredentialsError
from messor.access.members import Member
from messor.access.roles import Role
from messor.errors import NotFoundError, UsageError
from messor.ledger.events import Event, record
from messor.store.database import Connection

KNOWN = "SELECT member_id FROM messor.member_identities WHERE issuer = $1 AND subject = $2"
LINK = """
INSERT INTO messor.member_identities (issuer, subject, member_id) VALUES ($1, $2, $3)
ON CONFLICT DO NOTHING RETURNING member_id
"""


async def member_of(
    connection: Connection,
    *,
    issuer: str,
    subject: str,
    email: str | None,
    name: str | None,
    join_as: Role | None,
) -> Member:
    """The member; created when `join_as` allows it. Raises WrongCredentialsError."""
    known: UUID | None = await connection.fetchval(KNOWN, issuer, subject)
    if known is not None:
        return _open(await members.get(connection, known))
    if email is None:
        raise WrongCredentialsError(
            "The identity provider did not confirm an e-mail address, so no member can be matched."
        )
    member = _open(await _by_address(connection, email, name, join_as))
    if await connection.fetchval(LINK, issuer, subject, member.id) is None:
        raise WrongCredentialsError(
            f"{member.email} is linked to another account at the identity provider."
        )
    event = Event("member.identity_linked", f"member:{member.id}", data={"issuer": issuer})
    await record(connection, [event])
    return member


async def _by_address(
    connection: Connection, email: str, name: str | None, join_as: Role | None
) -> Member:
    try:
        return await members.get(connection, email)
    except (NotFoundError, UsageError) as error:
        if join_as is None or isinstance(error, UsageError):
            raise WrongCredentialsError(
                "You are not a member here. Ask an admin to add your e-mail address."
            ) from error
    return await members.insert(
        connection,
        email=email,
        name=name or email.partition("@")[0],
        role=join_as,
        password=None,
        actor="identity-provider",
    )


def _open(member: Member) -> Member:
    if member.disabled_at is not None:
        raise WrongCredentialsError("Your account is deactivated. Ask an admin.")
    return member
