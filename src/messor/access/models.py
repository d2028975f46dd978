"""Tables: members, their sessions and keys, and what slows down guessing."""

from __future__ import annotations

from datetime import date, timedelta
from uuid import UUID

from sqlalchemy.orm import Mapped

from messor.store.base import (
    Base,
    belongs_to,
    bigint,
    check,
    column,
    ctext,
    index,
    json,
    smallint,
    stored,
    unique,
    utc,
    utc_now,
    uuid_key,
)


class MemberTable(Base):
    """A person who may log in."""

    __tablename__ = "members"
    __table_args__ = (index("members_admins", "id", "role = 'admin' AND disabled_at IS NULL"),)

    id: Mapped[uuid_key]
    email: Mapped[ctext] = column(
        unique=True,
        check="email = lower(email) AND strpos(email, '@') > 1 AND length(email) <= 254",
    )
    name: Mapped[str] = column(check="length(name) BETWEEN 1 AND 100")
    role: Mapped[str] = column(check="role IN ('admin', 'reviewer', 'submitter', 'viewer')")
    # NULL: only a link lets them in
    password_hash: Mapped[str | None] = column(check="starts_with(password_hash, '$argon2id$')")
    password_changed_at: Mapped[utc | None]
    disabled_at: Mapped[utc | None]
    last_login_at: Mapped[utc | None]
    created_by: Mapped[str]
    created_at: Mapped[utc_now]
    updated_at: Mapped[utc_now]


class SessionTable(Base):
    """A login; rows outlive it, since a known network tells a member from a stranger."""

    __tablename__ = "sessions"
    __table_args__ = (
        check("expires_at > opened_at"),
        index("sessions_member", "member_id, opened_at DESC"),
        index("sessions_expiry", "expires_at"),
        stored(fillfactor=70),
    )

    id: Mapped[uuid_key]
    member_id: Mapped[UUID] = column(belongs_to("members.id"))
    token_hash: Mapped[bytes] = column(unique=True, check="length(token_hash) = 32")
    opened_by: Mapped[str] = column(
        check="opened_by IN ('password', 'link', 'first_admin', 'identity_provider')"
    )
    address: Mapped[str | None]
    network: Mapped[ctext]  # what counts as one address
    user_agent: Mapped[str | None] = column(check="length(user_agent) <= 300")
    idle: Mapped[timedelta]  # it ends when nothing was heard for this long
    opened_at: Mapped[utc_now]
    last_seen_at: Mapped[utc_now]
    expires_at: Mapped[utc]
    ended_at: Mapped[utc | None]  # logged out or revoked


class OneTimeLinkTable(Base):
    """A link that logs in once."""

    __tablename__ = "one_time_links"
    __table_args__ = (
        check("(purpose = 'login') = (member_id IS NOT NULL)"),
        index("one_time_links_member", "member_id"),
        index("one_time_links_expiry", "expires_at"),
    )

    id: Mapped[uuid_key]
    purpose: Mapped[str] = column(check="purpose IN ('first_admin', 'login')")
    member_id: Mapped[UUID | None] = column(belongs_to("members.id"))
    token_hash: Mapped[bytes] = column(unique=True, check="length(token_hash) = 32")
    created_by: Mapped[str]
    created_at: Mapped[utc_now]
    expires_at: Mapped[utc]
    ended_at: Mapped[utc | None]  # used or revoked


class ApiKeyTable(Base):
    """A key for programs; `prefix` is the part that may be shown."""

    __tablename__ = "api_keys"
    __table_args__ = (
        check("expires_at > created_at", "api_keys_check"),
        check("(revoked_at IS NULL) = (revoked_by IS NULL)", "api_keys_check1"),
        index("api_keys_member", "member_id, created_at DESC"),
        stored(fillfactor=70),
    )

    id: Mapped[uuid_key]
    member_id: Mapped[UUID] = column(belongs_to("members.id"))
    name: Mapped[str] = column(check="length(name) BETWEEN 1 AND 100")
    prefix: Mapped[ctext] = column(unique=True)  # the part that may be shown
    secret_hash: Mapped[bytes] = column(check="length(secret_hash) = 32")
    scopes: Mapped[list[str]] = column(check="cardinality(scopes) > 0")
    created_by: Mapped[str]
    created_at: Mapped[utc_now]
    expires_at: Mapped[utc]
    last_used_at: Mapped[utc | None]
    last_used_address: Mapped[str | None]
    revoked_at: Mapped[utc | None]
    revoked_by: Mapped[str | None]
    uses: Mapped[list[str]] = column(default="'{}'")  # what its holder does with what it reads


class KeyPolicyTable(Base):
    """What a person lets a key decide by itself: which domains, how deep, how much a day."""

    __tablename__ = "key_policies"

    key_id: Mapped[UUID] = column(belongs_to("api_keys.id"), key=True)
    domains: Mapped[list[str]]  # registrable domains, or `*`
    max_depth: Mapped[smallint] = column(check="max_depth BETWEEN 0 AND 100")
    pages_a_day: Mapped[int] = column(check="pages_a_day BETWEEN 1 AND 1000000")
    set_by: Mapped[str]
    set_at: Mapped[utc_now]


class KeyUsageTable(Base):
    """Pages that a key with a policy had fetched on a day."""

    __tablename__ = "key_usage"

    key_id: Mapped[UUID] = column(belongs_to("api_keys.id"), key=True)
    day: Mapped[date] = column(key=True)
    pages: Mapped[int] = column(default="0", check="pages >= 0")


class LoginThrottleTable(Base):
    """Login attempts by account, by address, or by both for a known address."""

    __tablename__ = "login_throttles"
    __table_args__ = stored(fillfactor=50)

    key: Mapped[ctext] = column(key=True)
    attempts: Mapped[int]
    attempted_at: Mapped[utc]
    open_at: Mapped[utc]  # before this no attempt is taken
    # the ledger knows that somebody was turned away
    is_told: Mapped[bool] = column(default="false")


class SecondFactorTable(Base):
    """An authenticator app's sealed secret; it counts once a code was confirmed."""

    __tablename__ = "second_factors"

    member_id: Mapped[UUID] = column(belongs_to("members.id"), key=True)
    sealed_secret: Mapped[bytes]
    confirmed_at: Mapped[utc | None]
    last_step: Mapped[bigint] = column(default="0")
    created_at: Mapped[utc_now]


class RecoveryCodeTable(Base):
    """Ten codes that work once each; only their SHA-256 is kept."""

    __tablename__ = "recovery_codes"

    member_id: Mapped[UUID] = column(belongs_to("second_factors.member_id"), key=True)
    code_hash: Mapped[bytes] = column(key=True)
    used_at: Mapped[utc | None]


class LoginChallengeTable(Base):
    """Between the password (or link) and the second factor's code."""

    __tablename__ = "login_challenges"

    token_hash: Mapped[bytes] = column(key=True)
    member_id: Mapped[UUID] = column(belongs_to("members.id"))
    opened_by: Mapped[str]
    expires_at: Mapped[utc]


class MemberIdentityTable(Base):
    """Who a member is at an identity provider (OpenID Connect)."""

    __tablename__ = "member_identities"
    __table_args__ = (unique("member_id, issuer"),)

    issuer: Mapped[str] = column(key=True)
    subject: Mapped[str] = column(key=True)
    member_id: Mapped[UUID] = column(belongs_to("members.id"))
    linked_at: Mapped[utc_now]


class RateLimitTable(Base):
    """When a caller's whole allowance is available again (GCRA); a crash may empty it."""

    __tablename__ = "rate_limits"
    __table_args__ = stored(unlogged=True, fillfactor=50)

    key: Mapped[ctext] = column(key=True)
    spent_until: Mapped[utc]


class IdempotencyKeyTable(Base):
    """A response kept by the caller's key: the same request sent twice is done once."""

    __tablename__ = "idempotency_keys"
    __table_args__ = (index("idempotency_keys_expiry", "expires_at"),)

    owner: Mapped[ctext] = column(key=True)  # who chose it, as events name them
    key: Mapped[ctext] = column(key=True, check="length(key) BETWEEN 1 AND 255")
    request_hash: Mapped[bytes]  # of method, path, query and body
    status: Mapped[smallint | None]  # NULL while the request is under way
    headers: Mapped[json | None]
    body: Mapped[bytes | None]  # NULL also where the answer held a secret
    begun_at: Mapped[utc_now]
    expires_at: Mapped[utc] = column(default="(messor.clock() + '24:00:00'::interval)")


class SavedViewTable(Base):
    """Filters of a list, saved under a name."""

    __tablename__ = "saved_views"
    __table_args__ = (
        unique("member_id, list, name"),
        index("saved_views_shared", "list, name", "is_shared"),
    )

    id: Mapped[uuid_key]
    member_id: Mapped[UUID] = column(belongs_to("members.id"))
    list: Mapped[ctext] = column(check="list IN ('domains', 'review', 'tasks')")
    name: Mapped[str] = column(check="length(name) BETWEEN 1 AND 60")
    filters: Mapped[json] = column(
        check="jsonb_typeof(filters) = 'object' AND length(filters::text) <= 4000"
    )
    # everybody sees it; its owner alone changes it
    is_shared: Mapped[bool] = column(default="false")
    created_at: Mapped[utc_now]


class DefaultViewTable(Base):
    """What a member's list opens with: an own view or a shared one."""

    __tablename__ = "default_views"
    __table_args__ = (index("default_views_view", "view_id"),)

    member_id: Mapped[UUID] = column(belongs_to("members.id"), key=True)
    list: Mapped[ctext] = column(key=True)
    view_id: Mapped[UUID] = column(belongs_to("saved_views.id"))
