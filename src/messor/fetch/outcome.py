"""Outcomes: the one place that declares them and decides which one an attempt to fetch has.

Providers report what happened by an error type, a response is classified by status, type and size,
and readers of its content state what they found; each returns another immutable `FetchResult`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from typing import Any, Self

from messor.core import clock
from messor.fetch.gates.verdict import FRICTION_STATUS, GateVerdict
from messor.fetch.retry_after import parse_retry_after
from messor.politeness.pace import Permit
from messor.web.document_formats import format_of
from messor.web.quotes import Quote, quote_of

REDIRECTS = frozenset({301, 302, 303, 307, 308})
_FRICTION = frozenset(FRICTION_STATUS)
_HTML = ("text/html", "application/xhtml+xml")
_MAX_ERROR = 500


class Outcome(StrEnum):
    """How an attempt ended: its name, the group it is shown in, and what it means."""

    label: str
    meaning: str
    is_good: bool  # the page's own content came, or is known
    is_retryable: bool  # worth retrying soon: the page may well exist
    is_dead_end: bool  # asking again soon brings nothing

    def __new__(cls, name: str, label: str, meaning: str, *flags: str) -> Self:
        made = str.__new__(cls, name)
        made._value_ = name
        made.label, made.meaning = label, meaning
        made.is_good, made.is_retryable = "good" in flags, "retry" in flags
        made.is_dead_end = "dead end" in flags
        return made

    OK = "ok", "harvested", "HTML that differs from last time", "good"
    UNCHANGED = "unchanged", "unchanged", "304, or the same bytes as last time", "good"
    REDIRECTED = (
        "redirected", "redirected",
        "301, 302, 303, 307 or 308; the target becomes a page of its own", "dead end",
    )  # fmt: skip
    REDIRECTED_OUT = (
        "redirected_out", "redirected", "the same, to a host of another domain; not followed",
        "dead end",
    )  # fmt: skip
    ROBOTS = (
        "robots", "denied",
        "the page asks not to be kept: noindex, or a reservation where the terms respect it",
        "dead end",
    )  # fmt: skip
    NOT_FOUND = "not_found", "gone", "404 or 410, or a page that says so", "dead end"
    PRICED = (
        "priced", "priced", "402 with a price, or a demand for a licence; nothing is paid unasked",
        "dead end",
    )  # fmt: skip
    BLOCKED = (
        "blocked", "blocked", "401, 403, 429 or 503, a challenge, a login or consent wall", "retry"
    )  # fmt: skip
    EMPTY = "empty", "no content", "a page without content, or one that only scripts would fill"
    NOT_HTML = (
        "not_html", "no content", "neither HTML nor a document that is read; its bytes are not kept",
        "dead end",
    )  # fmt: skip
    TOO_LARGE = "too_large", "failed", "over the byte limits", "dead end"
    TOO_COMPLEX = "too_complex", "failed", "too large or too deeply nested to be parsed", "dead end"
    TIMEOUT = "timeout", "failed", "no complete response in time", "retry"
    REFUSED_ADDRESS = "refused_address", "failed", "rejected by the address guard", "dead end"
    ERROR = "error", "failed", "anything else, described in one sentence", "retry"


GOOD = frozenset(outcome for outcome in Outcome if outcome.is_good)
# Came with a body that is worth reading as something other than a page.
WITH_BODY = frozenset({Outcome.OK, Outcome.NOT_HTML})
_BY_STATUS = {304: Outcome.UNCHANGED, 404: Outcome.NOT_FOUND, 410: Outcome.NOT_FOUND}
# Outcomes of failures by error type; all others are errors.
_OF_FAILURE: Mapping[str, Outcome] = {
    "timeout": Outcome.TIMEOUT,
    "refused_address": Outcome.REFUSED_ADDRESS,
    "too_large": Outcome.TOO_LARGE,
    "not_html": Outcome.NOT_HTML,
    "blocked": Outcome.BLOCKED,
}


@dataclass(frozen=True, slots=True)
class FetchResult:
    """An outcome, and what explains it; each method returns what a further finding makes of it."""

    outcome: Outcome = Outcome.OK
    error: str | None = None  # for people
    error_type: str | None = None
    location: str | None = None
    retry_after: float | None = None
    quote: Quote | None = None  # the price that the response names

    def explained(self, error: str) -> FetchResult:
        """The same outcome with another explanation."""
        return replace(self, error=error)

    def accepted(self) -> FetchResult:
        """A sitemap, robots.txt or image is what it should be."""
        return replace(self, outcome=Outcome.OK)

    def unchanged(self) -> FetchResult:
        """The content equals that of last time."""
        return replace(self, outcome=Outcome.UNCHANGED)

    def redirected(self, location: str) -> FetchResult:
        """By markup or scripts, or because the page is elsewhere."""
        return replace(self, outcome=Outcome.REDIRECTED, location=location)

    def left_domain(self) -> FetchResult:
        """A redirect leads out of the domain; other outcomes stay what they are."""
        is_redirect = self.outcome is Outcome.REDIRECTED
        return replace(self, outcome=Outcome.REDIRECTED_OUT) if is_redirect else self

    def forbidden(self, objection: str) -> FetchResult:
        """The page's directives forbid keeping it."""
        return replace(self, outcome=Outcome.ROBOTS, error=objection)

    def empty(self, error: str) -> FetchResult:
        return replace(self, outcome=Outcome.EMPTY, error=error)

    def not_html(self) -> FetchResult:
        """What came shows a file instead of being a page."""
        return replace(self, outcome=Outcome.NOT_HTML)

    def too_large(self, error: str, error_type: str | None = None) -> FetchResult:
        return replace(self, outcome=Outcome.TOO_LARGE, error=error, error_type=error_type)

    def too_complex(self, error: str) -> FetchResult:
        return replace(self, outcome=Outcome.TOO_COMPLEX, error=error)

    def broken(self, error: str | None = None) -> FetchResult:
        """The response cannot be used, or breaks its reader."""
        return replace(self, outcome=Outcome.ERROR, error=error or self.error)

    def judged(self, verdict: GateVerdict) -> FetchResult:
        """What the quality gates make of a page."""
        if verdict.block is not None:
            error = f"{verdict.block.by}: {verdict.block.evidence}"[:_MAX_ERROR]
            return replace(self, outcome=Outcome.BLOCKED, error=error)
        if "soft_404" in verdict.gates:
            error = "the page says that it does not exist"
            return replace(self, outcome=Outcome.NOT_FOUND, error=error)
        if "empty" in verdict.gates or "spa_shell" in verdict.gates:
            return self.empty("the page has no text without JavaScript")
        return self

    def judged_refusal(self, verdict: GateVerdict) -> FetchResult:
        """What the gates make of a refusal: who refused, if its body shows it."""
        if verdict.block is None:
            return self
        judged = self.judged(verdict)
        return judged.explained(f"{self.error} ({judged.error})") if self.error else judged


OK = FetchResult()


def failed(error_type: str, error: str | None, retry_after: float | None = None) -> FetchResult:
    """The result of an attempt without a usable response."""
    outcome = _OF_FAILURE.get(error_type, Outcome.ERROR)
    return FetchResult(outcome, error, error_type, retry_after=retry_after)


def of_response(status: int, headers: Mapping[str, str], body: bytes) -> FetchResult:
    """Classify a response by status, content type and size, whichever provider fetched it."""
    if status in _BY_STATUS:
        return FetchResult(_BY_STATUS[status])
    if status in REDIRECTS:
        return FetchResult(Outcome.REDIRECTED, location=headers.get("Location"))
    if not 200 <= status < 300:
        return _of_refusal(status, headers)
    content_type = headers.get("Content-Type")
    is_document = bool(body) and format_of(content_type, body) is not None
    if not is_document and not is_html(content_type, body):
        return FetchResult(Outcome.NOT_HTML)
    return OK if body.strip() else OK.empty("the page has no content")


def _of_refusal(status: int, headers: Mapping[str, str]) -> FetchResult:
    quote = quote_of(status, headers)
    if quote is not None:
        error = f"the site asks {quote.price} ({quote.text})"
        return FetchResult(Outcome.PRICED, error, quote=quote)
    if status in _FRICTION:
        pause = parse_retry_after(headers.get("Retry-After"))
        return FetchResult(Outcome.BLOCKED, f"the site returned {status}", retry_after=pause)
    return FetchResult(Outcome.ERROR, f"the site returned {status}")


def is_html(content_type: str | None, body: bytes) -> bool:
    """Whether to read a response as HTML; one without a type is judged by its beginning."""
    if content_type:
        return content_type.partition(";")[0].strip().lower() in _HTML
    start = body[:512].lstrip().lower()
    return start.startswith((b"<!doctype html", b"<html", b"<head", b"<body", b"<!--"))


@dataclass(slots=True)
class Fetched:
    """One attempt to fetch a page: its result and its response."""

    result: FetchResult = OK
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    raw_headers: tuple[tuple[bytes, bytes], ...] = ()
    wire: bytes = b""  # the body as received, with its content encoding
    keeps_gzip: bool = False  # may be archived as received
    body: bytes = b""  # the body decoded
    size: int = 0  # of the body decoded
    received: int = 0  # bytes of the body on the wire, of a render those of all its requests
    wire_digest: bytes | None = None  # see fetch.wire
    wire_tag: int | None = None
    is_known: bool = False  # the bytes equal those the task knows; they were not decompressed
    reason: str = ""
    sent_at: float = 0.0  # on the deadline clock; 0 when no request was sent
    began_at: float = 0.0  # when the attempt began, with or without a request
    gap: float = 0.0
    delay: float = 0.0  # the delay that was due before it
    duration: float = 0.0
    provider: str = "http"
    cost: Decimal | None = None  # what the provider charged
    gate: str | None = None  # the failed quality gate
    proxy_id: int | None = None
    detail: dict[str, Any] | None = None  # friction signals, requests of a render
    signed_by: int | None = None  # the identity key; None: the request was not signed
    is_challenged: bool = False  # another signature, which we can make, may be accepted
    earlier: Fetched | None = None  # the response that this request answers: a challenge, a price

    @property
    def outcome(self) -> Outcome:
        return self.result.outcome

    @property
    def error(self) -> str | None:
        return self.result.error

    @property
    def error_type(self) -> str | None:
        return self.result.error_type

    @property
    def location(self) -> str | None:
        return self.result.location

    @property
    def retry_after(self) -> float | None:
        return self.result.retry_after

    @property
    def content_type(self) -> str | None:
        return self.headers.get("Content-Type")

    @property
    def all_earlier(self) -> list[Fetched]:
        """The responses that led to this request, oldest first."""
        return [] if self.earlier is None else [*self.earlier.all_earlier, self.earlier]

    def classify(self) -> Fetched:
        """Set the result of a response with status, headers and body."""
        assert self.status is not None
        self.result = of_response(self.status, self.headers, self.body)
        return self

    def take_times(self, permit: Permit, started: float) -> None:
        """Take over when the request was sent, and the pause before it."""
        self.sent_at = permit.used_at
        self.began_at = permit.used_at or started
        self.gap, self.delay = permit.gap, permit.delay
        self.signed_by = permit.signed_by
        self.duration = clock.now() - self.began_at

    def let_go(self) -> None:
        """Drop the bytes: while a batch waits for its flush, only the results are needed."""
        self.wire = self.body = b""
