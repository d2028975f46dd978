"""What crosses the wire, without sending it: calls, replies, retries and decoding.

Whatever takes more than one request is a generator of steps (`Steps`): it yields calls and pauses and is
sent replies. `Client` and `AsyncClient` only differ in how they carry the steps out.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from messor_client.errors import UnreachableError, error_of

T = TypeVar("T")

KEY_HEADER = "Idempotency-Key"
RETRIED = (429, 502, 503, 504)
UNCHANGED = (429, 503)  # nothing was done: any method may be repeated


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[T]):
    """One request and the type of its answer."""

    method: str
    path: str
    answer: type[T]
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = msgspec.UNSET
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    into: Path | None = None  # the file that takes the body of a good answer

    @property
    def is_repeatable(self) -> bool:
        """Whether a repeated request has the effect of one."""
        return self.method in ("GET", "PUT", "DELETE") or KEY_HEADER in self.headers

    def parameters(self) -> list[tuple[str, str]]:
        """The query parameters that are given."""
        found: list[tuple[str, str]] = []
        for name, value in self.query.items():
            each = value if isinstance(value, list | tuple) else [value]
            found += [(name, text_of(one)) for one in each if one is not None]
        return found

    def encoded(self) -> bytes | None:
        """The body as bytes."""
        if self.content is not None or self.body is msgspec.UNSET:
            return self.content
        body = self.body
        if isinstance(body, dict):
            body = {name: one for name, one in body.items() if one is not msgspec.UNSET}
        return msgspec.json.encode(body)


@dataclass(frozen=True, slots=True)
class Pause:
    """A step that waits."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: a response, or the reason why there is none."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    fault: str | None = None


Steps = Generator[Call[Any] | Pause, Reply | None, T]


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a request is repeated, and how long it may wait in total.

    Retry-After is honoured in full: what asks for more than `seconds` raises at once.
    """

    times: int = 5
    seconds: float = 120.0
    first_pause: float = 0.5

    def pause(self, call: Call[Any], reply: Reply, attempt: int, waited: float) -> float | None:
        """Seconds until the next attempt; None if there is none."""
        may = call.is_repeatable or (reply.fault is None and reply.status in UNCHANGED)
        is_passing = reply.fault is not None or reply.status in RETRIED
        if not (may and is_passing) or attempt > self.times:
            return None
        asked = retry_after(reply)
        backoff = self.first_pause * 2 ** (attempt - 1) * random.uniform(0.5, 1.0)  # noqa: S311
        seconds = backoff if asked is None else asked
        return seconds if waited + seconds <= self.seconds else None


def send(call: Call[T], retries: Retries) -> Steps[T]:
    """Send a call, repeat it as long as that helps, decode the answer or raise its error."""
    if call.method == "POST" and KEY_HEADER not in call.headers:
        call = replace(call, headers={**call.headers, KEY_HEADER: secrets.token_hex(16)})
    waited, attempt = 0.0, 1
    while True:
        reply = yield call
        assert reply is not None
        pause = retries.pause(call, reply, attempt, waited)
        if pause is None:
            return _decode(call, reply)
        yield Pause(pause)
        waited, attempt = waited + pause, attempt + 1


def _decode(call: Call[T], reply: Reply) -> T:
    if reply.fault is not None:
        raise UnreachableError(f"{call.method} {call.path}: {reply.fault}")
    if not 200 <= reply.status < 300:
        raise error_of(reply.status, _problem(reply.body), retry_after(reply))
    answer: Any = call.answer
    if answer is type(None) or call.into is not None:
        return None  # type: ignore[return-value]
    if answer is bytes:
        return reply.body  # type: ignore[return-value]
    if answer is str:
        return reply.body.decode("utf-8", "replace")  # type: ignore[return-value]
    try:
        return msgspec.json.decode(reply.body, type=answer)  # type: ignore[no-any-return]
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UnreachableError(
            f"{call.method} {call.path}: not an answer of Messor ({error}); check the base URL."
        ) from error


def _problem(body: bytes) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return {}
    return found if isinstance(found, dict) else {}


def retry_after(reply: Reply) -> float | None:
    """Seconds that the server asks to wait (RFC 9110: seconds or a date)."""
    text = reply.headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (until - datetime.now(UTC)).total_seconds()) if until.tzinfo else None


def text_of(value: Any) -> str:
    """A value as it stands in a URL."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime | timedelta):
        return msgspec.json.encode(value).decode().strip('"')
    return str(value)
