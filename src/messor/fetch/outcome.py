"""What a fetch can come to: typed outcomes, so that nothing is a bare error."""

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
    ROBOTS = "robots"  # the page itself asks not to be kept (noindex, a reservation)
    FRICTION = "friction"  # content came, and with it a sign that we are not welcome
    BLOCKED = "blocked"  # no usable content came because of friction
    EMPTY = "empty"
    NOT_HTML = "not_html"
    TOO_LARGE = "too_large"
    TOO_COMPLEX = "too_complex"
    TIMEOUT = "timeout"
    REFUSED_ADDRESS = "refused_address"
    ERROR = "error"


# Worth another try soon: the page may well be there.
RETRYABLE = frozenset({Outcome.BLOCKED, Outcome.TIMEOUT, Outcome.ERROR})


@dataclass(slots=True)
class Fetched:
    """One attempt to get a page, and what came of it."""

    outcome: Outcome
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    raw_headers: tuple[tuple[bytes, bytes], ...] = ()
    wire: bytes = b""  # the body as it came, content encoding and all
    keeps_gzip: bool = False  # it may be archived as it came
    body: bytes = b""  # the body decoded
    size: int = 0  # of the body decoded
    wire_digest: bytes | None = None  # see fetch.wire
    wire_tag: int | None = None
    is_known: bool = False  # the bytes are those the task knows; they were not unpacked
    reason: str = ""
    location: str | None = None
    retry_after: float | None = None
    error: str | None = None  # for people
    error_type: str | None = None
    sent_at: float = 0.0  # on the deadline clock; 0 when no request went out
    began_at: float = 0.0  # when the attempt began, request or not
    gap: float = 0.0
    delay: float = 0.0  # the pause that was due before it
    duration: float = 0.0
    provider: str = "http"
    cost: Decimal | None = None  # what the provider charged
    gate: str | None = None  # the quality gate it failed
    proxy_id: int | None = None
    detail: dict[str, Any] | None = None  # friction signals, what a render asked for

    def let_go(self) -> None:
        """Drop the bytes: a batch waits for its flush with what was made of them."""
        self.wire = self.body = b""

    @property
    def content_type(self) -> str | None:
        return self.headers.get("Content-Type")
