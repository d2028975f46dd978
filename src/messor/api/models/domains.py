"""Domains in the API, and the actions on them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from messor.api.models.base import Address, Context, In, Name, Out, Reason, text
from messor.registry.domains import Domain
from messor.registry.life import NO_FUNDS_YEARS, Status, SubmitterType
from messor.registry.terms import RANGES


class SubmissionIn(In):
    domain: Address = Field(description="A domain, a host or a URL; protocol and path are dropped")
    context: Context | None = Field(None, description="Why it should be crawled")
    max_crawl_depth: int = Field(3, ge=0, le=100)
    contact: Annotated[str, text(320)] | None = Field(
        None, description="E-mail address for notification of the decision; never returned"
    )
    preflight: bool | None = Field(None, description="Run a preflight check for the reviewer")


class SubmittedOut(Out):
    outcome: Literal[
        "new", "resubmitted", "pending", "approved", "suspended", "rejected", "blacklisted"
    ]
    domain: Domain
    said: str
    asks: Literal["rescrape", "context"] | None


class Approve(In):
    act: Literal["approve"]


class Reject(In):
    act: Literal["reject"]
    reason: Reason
    notify: bool = Field(False, description="Notify the submitters, with the reason")


class Suspend(In):
    act: Literal["suspend"]
    reason: Reason | None = None


class Resume(In):
    act: Literal["resume"]


class Blacklist(In):
    act: Literal["blacklist"]
    reason: Reason


class ReviewAgain(In):
    act: Literal["review_again"]
    reason: Reason


class Keep(In):
    act: Literal["keep"]
    take_urls: bool = Field(True, description="Crawl the URLs waiting for this decision")


class Trust(In):
    act: Literal["trust"]


class Untrust(In):
    act: Literal["untrust"]


class NoFunds(In):
    act: Literal["no_funds"]
    year: int = Field(ge=NO_FUNDS_YEARS[0], le=NO_FUNDS_YEARS[1])


class Revive(In):
    act: Literal["revive"]


DecisionIn = Annotated[
    Approve
    | Reject
    | Suspend
    | Resume
    | Blacklist
    | ReviewAgain
    | Keep
    | Trust
    | Untrust
    | NoFunds
    | Revive,
    Field(discriminator="act"),
]


class BulkIn(In):
    """One decision applied to many domains independently."""

    domains: list[Name] = Field(min_length=1, max_length=200)
    decision: DecisionIn


class HoldingsOut(Out):
    pages: int
    snapshots: int
    bytes: int


class DecidedOut(Out):
    domain: Domain
    said: str
    holdings: HoldingsOut | None = Field(None, description="Stored data, if it may be purged now")


class VerdictOut(Out):
    name: str
    done: bool
    said: str
    code: str
    domain: Domain | None


class BulkOut(Out):
    done: int
    refused: int
    verdicts: list[VerdictOut]


def _within(name: str) -> Any:
    low, high = RANGES[name]
    return Field(None, ge=low, le=high)


class TermsIn(In):
    """Crawl settings of a domain; missing fields stay unchanged."""

    delay: float | None = Field(None, ge=0, le=86_400, allow_inf_nan=False)
    max_concurrent_requests: int | None = _within("max_concurrent_requests")
    max_crawl_depth: int | None = _within("max_crawl_depth")
    page_budget: int | None = _within("page_budget")
    every_hours: int | None = _within("every_hours")
    harvest: Literal["site", "asked"] | None = None
    on_block: Literal["respect", "failover"] | None = None
    render: Literal["auto", "never"] | None = None
    directives: Literal["respect", "ignore"] | None = None
    reservations: Literal["record", "respect"] | None = None
    robots_forbidden: Literal["allow", "deny"] | None = None
    proxies: Literal["none", "pool"] | None = None
    verify_tls: bool | None = None


class NoteIn(In):
    body: Annotated[str, text(10_000, 1)]


class NoteOut(Out):
    id: UUID
    author: str
    body: str
    created_at: datetime


class SimilarOut(Out):
    domain: str
    status: Status
    likeness: str


class ReportOut(Out):
    """Result of a preflight check."""

    url: str
    reachable: bool
    said: str
    robots: str | None
    robots_reason: str | None
    robots_allows: bool | None
    crawl_delay: float | None
    status_code: int | None
    title: str | None
    description: str | None
    language: str | None
    leads_to: str | None
    leads_out: str | None
    challenge: str | None
    login: bool
    signals: list[str]
    sitemap: str | None
    sitemap_urls: int | None
    sitemap_sitemaps: int | None
    https_error: str | None = None
    similar: list[SimilarOut]


class WaitingOut(Out):
    """A row of the review queue."""

    id: UUID
    domain: str
    base_url: str
    status: Status
    submitted_by: str
    submitter_type: SubmitterType
    submission_context: str | None
    max_crawl_depth: int
    created_at: datetime
    review_reason: str | None
    rejection_reason: str | None
    domain_class: str
    policy_version: int
    asked: int
    urls_waiting: int
    notes: int
    preflight_asked_at: datetime | None
    report: ReportOut | None


class PastSubmissionOut(Out):
    submitted_by: str
    submitter_type: SubmitterType
    has_contact: bool
    context: str | None
    max_crawl_depth: int
    created_at: datetime


class WaitingUrlOut(Out):
    url: str
    submitted_by: str
    submitter_type: SubmitterType
    submitted_at: datetime


class PreflightOut(Out):
    id: UUID
    requested_by: str
    requested_at: datetime
    finished_at: datetime | None
    requests: int
    report: ReportOut | None


class HistoryOut(Out):
    occurred_at: datetime
    type: str
    actor: str
    data: dict[str, Any]


class DossierOut(Out):
    """Everything a reviewer needs for a decision."""

    domain: Domain
    submissions: list[PastSubmissionOut]
    urls: list[WaitingUrlOut]
    notes: list[NoteOut]
    preflight: PreflightOut | None
    https_error: str | None = None
    similar: list[SimilarOut]
    history: list[HistoryOut]


class RescrapedOut(Out):
    domain: str
    pages: int = Field(description="Known pages now due")


class PreflightAskedOut(Out):
    domain: str
    preflight: UUID | None = Field(description="null when one is already running")


class ImportIn(In):
    """Existing domains to import as approved."""

    lines: list[Annotated[str, Field(max_length=5_000, pattern=r"^[^\x00\r\n]*$")]] = Field(
        min_length=1, max_length=1_000, description="One domain per line: domain, depth, context"
    )
    start: bool = Field(True, description="false: fetch only requested pages")


class ImportLineOut(Out):
    number: int
    text: str
    outcome: Literal["approved", "already_approved", "left", "refused"]
    said: str
    domain: str | None


class ImportOut(Out):
    lines: list[ImportLineOut]


class PurgeOut(Out):
    domain: str
    purged: HoldingsOut


class ErasureIn(In):
    kind: Literal["domain", "url", "person"]
    what: Address
    reason: Reason


class ErasedOut(Out):
    kind: Literal["domain", "url", "person"]
    key: str
    said: str


class UrlIn(In):
    url: Address
    context: Context | None = Field(None, description="Why its domain should be crawled")
    submit: bool = Field(False, description="Submit its domain for review if needed")


class SubmittedUrlOut(Out):
    outcome: Literal["crawling", "remembered", "offered", "refused"]
    url: str
    said: str
    domain: Domain | None
    page_id: int | None
    asks: Literal["submit", "context", "rescrape"] | None
