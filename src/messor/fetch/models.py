"""Tables: the log of requests, its roll-ups, providers and proxies."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from uuid import UUID

from sqlalchemy.orm import Mapped

from messor.store.base import (
    Base,
    Keyless,
    bigint,
    bigint_id,
    by_month,
    column,
    ctext,
    index,
    int_key,
    json,
    smallint,
    stored,
    unique,
    utc,
    utc_now,
)


class HttpFetchTable(Keyless):
    """One attempt to get a page."""

    __tablename__ = "http_fetches"
    __table_args__ = (
        index("idx_fetches_page", "page_id, fetched_at DESC"),
        # Rows come in the order of their time: a few kilobytes of index find any hour in them.
        index(
            "http_fetches_time",
            "fetched_at",
            postgresql_using="brin",
            postgresql_with={"autosummarize": "on"},
        ),
        index(
            "http_fetches_ids",
            "id",
            postgresql_using="brin",
            postgresql_with={"autosummarize": "on"},
        ),
        # The requests of a domain, the newest first, without a look at each of its pages.
        index("http_fetches_host", "host_id, fetched_at DESC"),
        by_month("fetched_at"),
    )

    id: Mapped[bigint_id]
    fetched_at: Mapped[utc]  # when the request was written, or the attempt began
    page_id: Mapped[bigint]
    host_id: Mapped[bigint]
    visit_token: Mapped[bigint]
    outcome: Mapped[str]
    status_code: Mapped[smallint | None]
    size: Mapped[int | None]
    duration_ms: Mapped[int]
    waited_ms: Mapped[int]  # gap to the lane's previous request
    fetch_provider: Mapped[str] = column(default="'http'")
    provider_cost: Mapped[Decimal | None]
    quality_gate_failed: Mapped[str | None]
    rule: Mapped[str]
    policy_version: Mapped[int]
    robots_id: Mapped[bigint | None]
    final_url: Mapped[str | None]
    headers_json: Mapped[json | None]
    error_json: Mapped[json | None]
    delay_ms: Mapped[int | None]  # the pause that was due before this request
    proxy_id: Mapped[int | None]
    detail: Mapped[json | None]  # friction signals, what a render asked for
    signed_by: Mapped[int | None]  # the identity key; NULL: not signed


class IdentityKeyTable(Base):
    """A key that signs requests; its private half is sealed, and deleted once it signs no more."""

    __tablename__ = "identity_keys"

    id: Mapped[int_key]
    thumbprint: Mapped[ctext] = column(unique=True)
    public_key: Mapped[bytes] = column(check="length(public_key) = 32")
    sealed_key: Mapped[bytes | None]
    created_at: Mapped[utc_now]
    use_from: Mapped[utc]
    published_until: Mapped[utc | None]


class FetchMinuteTable(Base):
    """Requests per minute, rolled up for charts; newer ones are counted in the log."""

    __tablename__ = "fetch_minutes"

    minute: Mapped[utc] = column(key=True)
    outcome: Mapped[ctext] = column(key=True)
    fetches: Mapped[int]


class FetchDayTable(Base):
    """Requests per day and host, rolled up for charts."""

    __tablename__ = "fetch_days"
    __table_args__ = stored(fillfactor=80)

    day: Mapped[date] = column(key=True)
    host_id: Mapped[bigint] = column(key=True)
    outcome: Mapped[ctext] = column(key=True)
    fetches: Mapped[int]


class FetchRollupTable(Base):
    """How far the roll-ups have got: one row."""

    __tablename__ = "fetch_rollup"
    __table_args__ = stored(fillfactor=50)

    is_the_one: Mapped[bool] = column(key=True, default="true", check="is_the_one")
    rolled_until: Mapped[utc] = column(default="'-infinity'")


class ProviderUsageTable(Base):
    """Requests and cost of a provider in a month."""

    __tablename__ = "provider_usage"

    provider: Mapped[ctext] = column(key=True)
    month: Mapped[date] = column(key=True)
    requests: Mapped[bigint] = column(default="0")
    cost: Mapped[Decimal] = column(default="0")


class ProviderHoldTable(Base):
    """Until when no worker calls a provider that answered 429."""

    __tablename__ = "provider_holds"

    provider: Mapped[str] = column(key=True)
    held_until: Mapped[utc]
    doublings: Mapped[int]
    reason: Mapped[str]
    set_at: Mapped[utc_now | None]  # so that the wait survives a clock step


class ProxyTable(Base):
    """A proxy; its password is sealed."""

    __tablename__ = "proxies"
    __table_args__ = (
        unique("proxy_protocol, proxy_url, proxy_port, proxy_username"),
        index("idx_proxies_last_used_at", "last_used_at", "is_active"),
    )

    id: Mapped[int_key]
    proxy_url: Mapped[str]  # host or address, without credentials
    proxy_port: Mapped[int] = column(check="proxy_port BETWEEN 1 AND 65535")
    proxy_protocol: Mapped[str] = column(
        default="'http'", check="proxy_protocol IN ('http', 'https', 'socks5')"
    )
    proxy_username: Mapped[str] = column(default="''")
    proxy_password: Mapped[bytes | None]  # encrypted
    is_active: Mapped[bool] = column(default="true")
    failure_count: Mapped[int] = column(default="0")  # in a row
    success_count: Mapped[bigint] = column(default="0")
    failures: Mapped[bigint] = column(default="0")  # in all
    cost_per_request: Mapped[Decimal | None]
    cost: Mapped[Decimal] = column(default="0")
    avg_response_time_ms: Mapped[int | None]
    last_used_at: Mapped[utc | None]
    last_success_at: Mapped[utc | None]
    last_failure_at: Mapped[utc | None]
    last_error: Mapped[str | None]
    probe_at: Mapped[utc | None]  # when a disabled one is tried again
    created_at: Mapped[utc_now]
    updated_at: Mapped[utc_now]
    trusted: Mapped[bool] = column(default="false")  # added on the command line: may be private


class ProxyRequestTable(Base):
    """Requests to a domain through a proxy, by the hour."""

    __tablename__ = "proxy_requests"

    domain_id: Mapped[UUID] = column(key=True)
    proxy_id: Mapped[int] = column(key=True)
    window_start: Mapped[utc] = column(key=True)
    requests: Mapped[int]
    cost: Mapped[Decimal] = column(default="0")  # at the price of that time


class SigningKeyTable(Base):
    """A key that signs what leaves as proof; the newest one signs, all of them verify."""

    __tablename__ = "signing_keys"

    id: Mapped[ctext] = column(key=True)  # the thumbprint of the public key (RFC 7638)
    public_key: Mapped[bytes]
    sealed_key: Mapped[bytes]  # encrypted
    created_at: Mapped[utc_now]
