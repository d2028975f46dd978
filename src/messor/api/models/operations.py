"""Events, decisions, jobs, ingestions, proxies and health in the API."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import ConfigDict, Field

from messor.api.models.base import Address, In, Out, text
from messor.fetch.proxies.costs import ProxyCost
from messor.ingest.queries import ShownTile
from messor.jobs.patterns import ErrorPattern
from messor.jobs.queries import JobFigures, State
from messor.ledger.errors import Category
from messor.ops.webhooks.deliveries import Delivery
from messor.ops.webhooks.registry import Webhook

Mode = Literal["light", "standard", "user_assisted"]


class FactOut(Out):
    step: str
    says: Literal["yes", "no", "later", "fact"]
    sentence: str


class WhyOut(Out):
    url: str
    verdict: Literal["allowed", "denied", "deferred"]
    facts: list[FactOut]


class RobotsOut(Out):
    allowed: bool
    reason: str
    matched_rule: str | None
    user_agent: str
    crawl_delay: float | None


class RobotsCheckIn(In):
    robots_txt: Annotated[str, Field(max_length=600_000)]
    url: Address
    user_agent: Annotated[str, text(200)] | None = None


class JobErrorOut(Out):
    occurred_at: datetime
    category: str
    error_type: str
    error_message: str


class JobOut(Out):
    id: UUID
    job_type: str
    state: State
    target_kind: str
    target_id: UUID | None
    target_url: str | None
    dedupe_key: str
    priority: int
    attempts: int
    max_attempts: int
    created_at: datetime
    available_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    result: dict[str, Any] | None
    errors: list[JobErrorOut]


class JobStats(Out):
    items: list[JobFigures]


class Patterns(Out):
    items: list[ErrorPattern]


class ChoiceIn(In):
    """Selects dead letters; missing criteria are ignored."""

    job_ids: list[UUID] | None = Field(None, min_length=1, max_length=1_000)
    job_type: Annotated[str, text(100, 1)] | None = None
    category: Category | None = None
    pattern: Annotated[str, text(1_000, 1)] | None = None
    everything: bool = Field(False, description="Must be true to select all of them")


class CountOut(Out):
    jobs: int


class IngestIn(In):
    """`userUrls` applies to user_assisted mode only."""

    url: Address
    mode: Mode = "standard"
    userUrls: list[Address] = Field(default_factory=list, max_length=200)  # noqa: N815 - the specified name


class IngestEvidence(Out):
    mode: Mode
    discoverySources: list[str]  # noqa: N815 - the specified names, here and below
    pagesPlanned: int  # noqa: N815
    pagesFetched: int  # noqa: N815
    pagesUsed: int  # noqa: N815
    cacheHits: int  # noqa: N815
    cacheMisses: int  # noqa: N815
    outcome: Literal["success", "partial", "blocked", "error"]
    frictionSignals: list[str]  # noqa: N815
    domainRiskScore: int  # noqa: N815
    durationMs: int  # noqa: N815


class OfferOut(Out):
    kind: str
    text: str
    command: str


class IngestErrorOut(Out):
    """Why a run has no content, and what can be done about it."""

    message: str
    guidance: list[str]
    offers: list[OfferOut]


class EvidenceOut(Out):
    traceId: str  # noqa: N815
    nm_policyVersion: str  # noqa: N815
    nm_ingest: IngestEvidence
    error: IngestErrorOut | None = None


class BlockedOut(Out):
    """Options for a site that blocks crawlers."""

    friction: list[str]
    guidance: list[str]
    offers: list[OfferOut]


class IngestOut(Out):
    success: bool
    tiles: list[ShownTile]
    evidence: EvidenceOut
    blocked: BlockedOut | None = Field(None, description="Only with the outcome blocked")
    error: IngestErrorOut | None = Field(None, description="Only with the outcome error")


class ProxyOut(Out):
    """A proxy; the password is shown as ***."""

    id: int
    proxy_protocol: str
    proxy_url: str
    proxy_port: int
    proxy_username: str
    proxy_password: str | None
    is_active: bool
    trusted: bool
    failure_count: int
    success_count: int
    failures: int
    cost_per_request: float | None
    cost: float
    avg_response_time_ms: int | None
    last_used_at: datetime | None
    last_success_at: datetime | None
    last_failure_at: datetime | None
    last_error: str | None
    probe_at: datetime | None
    created_at: datetime
    updated_at: datetime


class ProxiesOut(Out):
    items: list[ProxyOut]


class ProxyCostsOut(Out):
    items: list[ProxyCost]


class ProxyIn(In):
    url: Annotated[str, text(500, 1)] = Field(
        description="For example socks5://user@proxy.example:1080"
    )
    password: Annotated[str, text(255)] | None = Field(None, json_schema_extra={"writeOnly": True})
    cost_per_request: float | None = Field(None, ge=0, le=1_000_000, allow_inf_nan=False)


class ProxySwitchIn(In):
    is_active: bool


class LiveOut(Out):
    status: Literal["ok"]


class CheckOut(Out):
    name: str
    ok: bool
    message: str


class ReadyOut(Out):
    model_config = ConfigDict(extra="forbid")

    status: Literal["ok", "unavailable"]
    checks: list[CheckOut]


class AlarmOut(Out):
    """A current problem of the installation."""

    place: str = Field(description="Machine and process")
    name: str = Field(description="disk, clock, or the component that failed")
    message: str
    raised_at: datetime


class SearchIndexOut(Out):
    """An index at the search server."""

    name: str
    state: Literal["filling", "live"]
    waiting: int = Field(description="Documents waiting to be sent; counted up to 1,000,001")
    refused: int = Field(description="Documents that the server rejected")
    last_refusal: str | None
    trouble: str | None = Field(
        description="Why sending failed; null if the last attempt succeeded"
    )
    started_at: datetime
    live_at: datetime | None
    sent_at: datetime | None


class SearchIndexesOut(Out):
    """The indexes at the search server."""

    items: list[SearchIndexOut]


class SearchJobOut(Out):
    """A job about the index."""

    job_id: UUID | None = Field(description="Null if such a job is already queued")


class VitalsOut(Out):
    """A status summary."""

    revision: str | None
    workers: int
    domains_waiting: int
    is_standing_still: bool
    jobs: dict[str, dict[str, int]]
    alarms: list[AlarmOut]
    proxies_active: int
    proxies_failing: int
    search_indexes: list[SearchIndexOut]


EventType = Annotated[str, Field(pattern=r"^[a-z_]{1,40}\.[a-z_]{1,60}$")]


class WebhookIn(In):
    url: Annotated[str, text(2_000, 1)] = Field(description="For example https://example.org/hook")
    types: list[EventType] = Field(
        default_factory=list,
        max_length=50,
        description="For example domain.approved; empty: all types",
    )


class WebhookChangeIn(In):
    """Missing fields stay unchanged."""

    types: list[EventType] | None = Field(None, max_length=50)
    is_active: bool | None = None


class WebhooksOut(Out):
    items: list[Webhook]


class NewWebhookOut(Out):
    webhook: Webhook
    secret: str = Field(description="Signing secret (Standard Webhooks); returned only once")


class DeliveriesOut(Out):
    items: list[Delivery]


class PingOut(Out):
    job_id: UUID
