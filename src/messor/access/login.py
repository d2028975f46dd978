"""Login: how a member gets a session: by password, link or identity provider, or as first admin.

An attempt by password is counted first, then the password is verified outside of any transaction,
then all its effects are written in one. To a stranger every failure looks the same and takes the
same time. Where a second factor is set up, password and link lead to a challenge, and only its code
opens the session; an identity provider handles its own second factor.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from messor.access import (
    identities,
    links,
    members,
    second_factor,
    sessions,
    throttle,
    typed_text,
)
from messor.access.errors import CodeNeededError, SessionEndedError, WrongCredentialsError
from messor.access.members import Member
from messor.access.origin import Origin
from messor.access.passwords import PasswordHash, Passwords
from messor.access.principal import Principal, authorise
from messor.access.roles import Act, Role
from messor.access.second_factor import Sealing
from messor.access.secret import Secret, fingerprint, new_token
from messor.access.sessions import Lifetimes, OpenedSession
from messor.errors import UsageError
from messor.ledger.events import Event, record
from messor.store.database import Connection, Database

ACCOUNT = "SELECT id, password_hash FROM messor.members WHERE email = $1 AND disabled_at IS NULL"

# Again under a lock: the member may have been changed while the password was verified.
STILL = f"""
SELECT {members.COLUMNS} FROM messor.members
 WHERE id = $1 AND disabled_at IS NULL AND password_hash IS NOT DISTINCT FROM $2
   FOR NO KEY UPDATE
"""

RENEW = "UPDATE messor.members SET password_hash = $2 WHERE id = $1"

OPENED_BY = "SELECT opened_by FROM messor.sessions WHERE id = $1 AND ended_at IS NULL"


CHALLENGE_LASTS = timedelta(minutes=10)

CHALLENGE = """
WITH swept AS (DELETE FROM messor.login_challenges WHERE expires_at < (SELECT messor.clock()))
INSERT INTO messor.login_challenges (token_hash, member_id, opened_by, expires_at)
VALUES ($1, $2, $3, (SELECT messor.clock()) + $4::interval)
"""
CHALLENGED = """
SELECT m.id, m.email, c.opened_by
  FROM messor.login_challenges c JOIN messor.members m ON m.id = c.member_id
 WHERE c.token_hash = $1 AND c.expires_at > (SELECT messor.clock()) AND m.disabled_at IS NULL
"""
MET = "DELETE FROM messor.login_challenges WHERE token_hash = $1 RETURNING 1"


@dataclass(frozen=True, slots=True)
class _Account:
    """The account an attempt is checked against; without an id there is no such account."""

    id: UUID | None = None
    encoded: str | None = field(default=None, repr=False)


class LoginService:
    """Logs members in; each method is one action, with its own transactions."""

    def __init__(
        self,
        database: Database,
        passwords: Passwords,
        lifetimes: Lifetimes | None = None,
        *,
        seal: Sealing | None = None,
    ) -> None:
        self._seal = seal  # without it nobody can have a second factor
        self._database = database
        self._passwords = passwords
        self._lifetimes = lifetimes or Lifetimes()

    async def log_in(self, email: str, password: str, origin: Origin) -> OpenedSession:
        """Log in by password. Raises WrongCredentialsError, ThrottledError or CodeNeededError."""
        address = _lenient(email)
        charged = await throttle.charge(self._database, address, origin)
        account = await self._account(address)
        fits = await self._passwords.verify(password, account.encoded)
        renewed = await self._renewed(password, account) if fits else None
        async with self._database.transaction() as connection:
            member = await _confirm(connection, account) if fits else None
            if member is None:
                await _record_failure(connection, account, origin)
            elif (token := await _challenge(connection, member, "password")) is None:
                await charged.forgive(connection)
                opened = await self._open(connection, member, "password", origin)
            if member is not None and renewed is not None:
                await connection.execute(RENEW, member.id, renewed.encoded)
        if member is None:
            raise WrongCredentialsError("The e-mail address or the password is wrong.")
        if token is not None:
            # The attempt still counts: a known password must not allow unlimited guesses at codes.
            raise CodeNeededError(token)
        return opened

    async def log_in_by_link(self, token: str, origin: Origin) -> OpenedSession:
        """Log in by a link made for this member. Raises BadLinkError or CodeNeededError."""
        async with self._database.transaction() as connection:
            link = await links.use(connection, token, "login")
            assert link.member_id is not None
            member = await members.get(connection, link.member_id)
            token_for_code = await _challenge(connection, member, "link")
            if token_for_code is None:
                return await self._open(connection, member, "link", origin)
        raise CodeNeededError(token_for_code)

    async def log_in_by_identity(
        self,
        *,
        issuer: str,
        subject: str,
        email: str | None,
        name: str | None,
        join_as: Role | None,
        origin: Origin,
    ) -> OpenedSession:
        """Log in by an identity provider. Raises WrongCredentialsError."""
        async with self._database.transaction() as connection:
            member = await identities.member_of(
                connection,
                issuer=issuer,
                subject=subject,
                email=email,
                name=name,
                join_as=join_as,
            )
            return await self._open(connection, member, "identity_provider", origin)

    async def answer_challenge(self, token: str, code: str, origin: Origin) -> OpenedSession:
        """Complete a login with the code of the second factor. Raises WrongCredentialsError or
        ThrottledError.
        """
        asked = await self._database.fetchrow(CHALLENGED, fingerprint(token))
        if asked is None or self._seal is None:
            raise SessionEndedError("This login took too long. Log in again.")
        charged = await throttle.charge(self._database, asked["email"], origin)
        async with self._database.transaction() as connection:
            if await second_factor.accept(connection, self._seal, asked["id"], code) and (
                await connection.fetchval(MET, fingerprint(token))
            ):
                await charged.forgive(connection)
                member = await members.get(connection, asked["id"])
                return await self._open(connection, member, asked["opened_by"], origin)
            await _record_failure(connection, _Account(asked["id"]), origin)
        raise WrongCredentialsError("This code is wrong or was already used.")

    async def make_first_admin(
        self, token: str, *, email: str, name: str, password: str, origin: Origin
    ) -> OpenedSession:
        """Create the first admin by the link that `messor up` printed. Raises BadLinkError,
        UsageError.
        """
        await links.peek(self._database, token)  # no hashing for callers without a valid link
        address, name = typed_text.understand_email(email), typed_text.understand_name(name)
        hashed = await self._passwords.hash(password, email=address, name=name)
        async with self._database.transaction() as connection:
            await links.use(connection, token, "first_admin")
            member = await members.insert(
                connection,
                email=address,
                name=name,
                role=Role.ADMIN,
                password=hashed,
                actor="first-admin-link",
            )
            return await self._open(connection, member, "first_admin", origin)

    async def change_password(
        self, principal: Principal, *, current: str | None, new: str, origin: Origin
    ) -> OpenedSession:
        """Change one's own password; all sessions end, and the returned one replaces the current
        one.

        Members who logged in by a link need not know the old password. Raises
        WrongCredentialsError, ThrottledError, WeakPasswordError.
        """
        authorise(principal, Act.ACCOUNT_OWN)
        if principal.member_id is None or principal.session_id is None:
            raise UsageError("Only a logged-in member can change a password here.")
        member = await members.get(self._database, principal.member_id)
        account = await self._account(member.email)
        if await self._requires_old_password(principal.session_id):
            await self._check_old_password(member, account, current, origin)
        hashed = await self._passwords.hash(new, email=member.email, name=member.name)
        async with self._database.transaction() as connection:
            still = await _confirm(connection, account)
            if still is None:
                raise SessionEndedError("Your account was changed in the meantime. Log in again.")
            changed = await members.set_password(connection, still, hashed, by=principal)
            return await self._open(connection, changed, "password", origin)

    async def remove_second_factor(
        self, principal: Principal, code: str, *, origin: Origin
    ) -> None:
        """Turn off one's own second factor. Raises WrongCredentialsError or ThrottledError."""
        authorise(principal, Act.ACCOUNT_OWN)
        if principal.member_id is None or self._seal is None:
            raise UsageError("Only a logged-in member can remove a second factor here.")
        member = await members.get(self._database, principal.member_id)
        charged = await throttle.charge(self._database, member.email, origin)
        async with self._database.transaction() as connection:
            if await second_factor.accept(connection, self._seal, member.id, code):
                await charged.forgive(connection)
                await second_factor.remove(connection, member, by=principal)
                return
            await _record_failure(connection, _Account(member.id), origin)
        raise WrongCredentialsError("This code is wrong or was already used.")

    async def must_show_the_old_password(self, principal: Principal) -> bool:
        """Whether the form for a new password requires the old one."""
        return principal.session_id is None or await self._requires_old_password(
            principal.session_id
        )

    async def _requires_old_password(self, session_id: UUID) -> bool:
        opened_by = await self._database.fetchval(OPENED_BY, session_id)
        if opened_by is None:
            raise SessionEndedError("This session has ended. Log in again.")
        return bool(opened_by != "link")

    async def _check_old_password(
        self, member: Member, account: _Account, current: str | None, origin: Origin
    ) -> None:
        charged = await throttle.charge(self._database, member.email, origin)
        fits = await self._passwords.verify(current or "", account.encoded)
        async with self._database.transaction() as connection:
            if fits:
                await charged.forgive(connection)
                return
            await _record_failure(connection, account, origin)
        raise WrongCredentialsError("The current password is wrong.")

    async def _account(self, email: str) -> _Account:
        row = await self._database.fetchrow(ACCOUNT, email)
        return _Account() if row is None else _Account(row["id"], row["password_hash"])

    async def _renewed(self, password: str, account: _Account) -> PasswordHash | None:
        assert account.encoded is not None
        if not self._passwords.needs_renewal(account.encoded):
            return None
        return await self._passwords.renew(password)

    async def _open(
        self, connection: Connection, member: Member, opened_by: str, origin: Origin
    ) -> OpenedSession:
        return await sessions.open_session(
            connection, member, opened_by=opened_by, origin=origin, lifetimes=self._lifetimes
        )


async def _challenge(connection: Connection, member: Member, opened_by: str) -> Secret | None:
    """The token of a challenge; None for a member without a second factor."""
    if await second_factor.recovery_codes_left(connection, member.id) is None:
        return None
    token = new_token()
    hashed = fingerprint(token.reveal())
    await connection.execute(CHALLENGE, hashed, member.id, opened_by, CHALLENGE_LASTS)
    return token


def _lenient(email: str) -> str:
    """A malformed address belongs to nobody, and is treated like any unknown one."""
    try:
        return typed_text.understand_email(email)
    except UsageError:
        return "nobody"


async def _confirm(connection: Connection, account: _Account) -> Member | None:
    row = await connection.fetchrow(STILL, account.id, account.encoded)
    return None if row is None else Member.of(row)


async def _record_failure(connection: Connection, account: _Account, origin: Origin) -> None:
    """Record a failed login without the typed text: it may be a password in the wrong field."""
    known = None if account.id is None else str(account.id)
    data = {"member": known, "address": origin.stored_address}
    await record(connection, [Event("login.failed", "anonymous", data=data)])
