"""Domains in the API, and the actions on them."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from messor.api.models.base import Address, Context, In, Name, Out, Reason, text
from messor.governance.backfill import BackfillLine
from messor.governance.decisions import BulkResult
from messor.governance.purges import Holdings
from messor.insight.relevance.guess import VerticalGuess
from messor.registry.domains import SUBMITTED_DELAYS
from messor.registry.life import NO_FUNDS_YEARS
from messor.registry.terms import RANGES
from messor.rights.uses import ApprovedUse

Vertical = Annotated[str, text(63)]


class SubmissionIn(In):
    domain: Address = Field(description="A domain, a host or a URL; protocol and path are dropped")
    context: Context | None = Field(None, description="Why it should be crawled")
    max_crawl_depth: int = Field(3, ge=0, le=100)
    delay: float | None = Field(
        None,
        ge=SUBMITTED_DELAYS[0],
        le=SUBMITTED_DELAYS[1],
        allow_inf_nan=False,
        description="Seconds between requests to one of its hosts; null: the default",
    )
    vertical: Vertical | None = Field(
        None, description="Name of the applied vertical that it is for"
    )
    contact: Annotated[str, text(320)] | None = Field(
        None,
        description="E-mail address for notification of the decision; returned only with a notice that you have to send yourself",
    )
    preflight: bool | None = Field(None, description="Run a preflight check for the reviewer")


class Approve(In):
    act: Literal["approve"]
    vertical: Vertical | None = Field(
        None, description="Vertical that its pages are judged for; null: as submitted, empty: none"
    )
    uses: list[ApprovedUse] | None = Field(
        None, description="What its content may be used for; null: as its vertical suggests"
    )
    notify: bool = Field(True, description="Notify the submitters")


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


class BulkOut(Out):
    done: int
    refused: int
    verdicts: list[BulkResult]


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
    priority: int | None = _within("priority")
    crawl_hours: str | None = Field(
        None, max_length=10, description="Hours of the day in its time zone, such as 22-6"
    )
    time_zone: str | None = Field(None, max_length=100, description="Such as Europe/Berlin")
    megabytes_per_day: int | None = _within("megabytes_per_day")


class DomainVerticalIn(In):
    """The vertical of a domain."""

    vertical: Vertical | None = Field(description="Name of an applied vertical; null: none")


class DomainVerticalOut(Out):
    domain: str
    vertical: str | None
    verticals: list[str] = Field(
        description="All it belongs to, by organisations and candidates too"
    )
    guess: VerticalGuess | None = Field(description="What its submissions and preflight suggest")


class NoteIn(In):
    body: Annotated[str, text(10_000, 1)]


class RescrapedOut(Out):
    domain: str
    pages: int = Field(description="Known pages now due")


class PreflightAskedOut(Out):
    domain: str
    preflight: UUID | None = Field(description="null when one is already running")


class ImportIn(In):
    """Existing domains to import as approved."""

    lines: list[Annotated[str, Field(max_length=5_000, pattern=r"^[^\x00\r\n]*$")]] = Field(
        min_length=1,
        max_length=1_000,
        description="One domain per line: domain, depth, context; or a header line that names columns",
    )
    vertical: Vertical | None = Field(
        None, description="Vertical of lines that name none themselves"
    )
    start: bool = Field(True, description="false: fetch only requested pages")


class ImportOut(Out):
    lines: list[BackfillLine]


class PurgeOut(Out):
    domain: str
    purged: Holdings


class ErasureIn(In):
    kind: Literal["domain", "url", "person"]
    what: Address
    reason: Reason


class UrlIn(In):
    url: Address
    context: Context | None = Field(None, description="Why its domain should be crawled")
    vertical: Vertical | None = Field(None, description="Vertical that its domain is for")
    submit: bool = Field(False, description="Submit its domain for review if needed")
