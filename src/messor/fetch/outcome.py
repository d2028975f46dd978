"""Results of a fetch: typed outcomes, so that nothing is a bare error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any


class Outcome(StrEnum):
    OK = "ok"
    UNCHANGED = "unchanged"
    REDIRECTED = "redirected"
    REDIRECTED_OUT = "redirected_out"
    NOT_FOUND = "not_found"
    ROBOTS = "robots"  # the page itself forbids storing it (noindex, a reservation)
    FRICTION = "friction"  # content came together with a friction signal
    BLOCKED = "blocked"  # no usable content came because of friction
    EMPTY = "empty"
    NOT_HTML = "not_html"
    TOO_LARGE = "too_large"
    TOO_COMPLEX = "too_complex"
    TIMEOUT = "timeout"
    REFUSED_ADDRESS = "refused_address"
    ERROR = "error"


# Worth retrying soon: the page may well exist.
RETRYABLE = frozenset({Outcome.BLOCKED, Outcome.TIMEOUT, Outcome.ERROR})


@dataclass(slots=True)
class Fetched:
    """One attempt to fetch a page, and its result."""

    outcome: Outcome
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    raw_headers: tuple[tuple[bytes, bytes], ...] = ()
    wire: bytes = b""  # the body as received, with its content encoding
    keeps_gzip: bool = False  # may be archived as received
    body: bytes = b""  # the body decoded
    size: int = 0  # of the body decoded
    wire_digest: bytes | None = None  # see fetch.wire
    wire_tag: int | None = None
    is_known: bool = False  # the bytes equal those the task knows; they were not decompressed
    reason: str = ""
    location: str | None = None
    retry_after: float | None = None
    error: str | None = None  # for people
    error_type: str | None = None
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

    def let_go(self) -> None:
        """Drop the bytes: while a batch waits for its flush, only the results are needed."""
        self.wire = self.body = b""

    @property
    def content_type(self) -> str | None:
        return self.headers.get("Content-Type")
