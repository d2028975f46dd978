"""Failures: what a library raised, as an outcome, a type for programs and words for people.

Every error of a request over HTTP is translated here and nowhere else: names of classes, numbers
of lines in C and whole answers quoted by a library help nobody who reads a report.
"""

from __future__ import annotations

import asyncio
import errno
import re
import ssl
from collections.abc import Iterator

import aiohttp

from messor.fetch.guard import RefusedAddressError
from messor.fetch.outcome import Fetched, Outcome
from messor.fetch.proxies.proxy import ProxyError

NO_TLS = "no_tls"

# The errors after which nothing is known to listen for https: nobody answered, or not in TLS.
# A certificate that does not hold is an answer, and so is a handshake that was refused.
_UNCONNECTED = frozenset({"connect", "timeout", NO_TLS})

# What OpenSSL says of bytes that are no TLS: mostly the start of "HTTP/1.1 400".
_NOT_TLS = frozenset(
    {"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG"}
)
_BY_NUMBER = {
    errno.ECONNREFUSED: "the connection was refused",
    errno.EHOSTUNREACH: "there is no route to the host",
    errno.ENETUNREACH: "its network cannot be reached",
    errno.ECONNRESET: "the connection was reset",
    errno.EPIPE: "the connection was closed",
}
_LONGEST = 150


def is_unconnected(fetched: Fetched) -> bool:
    """Whether a request never went out because nothing could be connected to at its port."""
    return not fetched.sent_at and fetched.error_type in _UNCONNECTED


def failed(outcome: Outcome, error: str, error_type: str) -> Fetched:
    return Fetched(outcome, error=error, error_type=error_type)


def of_error(error: Exception) -> Fetched:
    """What came of a request that ended in an error."""
    for cause in _causes(error):
        if isinstance(cause, RefusedAddressError):
            return failed(Outcome.REFUSED_ADDRESS, cause.strerror or "", "refused_address")
        if isinstance(cause, ProxyError):
            return cause.as_fetched()
        if isinstance(cause, asyncio.TimeoutError):
            return failed(Outcome.TIMEOUT, "no connection in time", "timeout")
    error_type, sentence = _told(error)
    return failed(Outcome.ERROR, sentence, error_type)


def words(error: Exception) -> str:
    """What went wrong with a request to anybody, for people."""
    return of_error(error).error or "no reason given"


def _told(error: Exception) -> tuple[str, str]:
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLError) and not isinstance(cause, aiohttp.ClientError):
            return _of_tls(cause)
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "dns", "the name does not resolve"
    if isinstance(error, aiohttp.ClientPayloadError):
        return "truncated", "the answer ended before it was complete"
    if isinstance(error, aiohttp.ClientConnectorError):
        return "connect", _of_number(error)
    if isinstance(error, (aiohttp.ClientConnectionError, OSError)):
        return "protocol", "the connection was closed before the answer was complete"
    what = _first_line(getattr(error, "message", "") or str(error))
    return "protocol", f"the answer is not valid HTTP ({what})"


def _of_tls(error: ssl.SSLError) -> tuple[str, str]:
    if isinstance(error, ssl.SSLCertVerificationError):
        why = _first_line(error.verify_message or "it cannot be verified").rstrip(".")
        return "tls", f"its certificate is not valid: {why}"
    if error.reason in _NOT_TLS:
        return NO_TLS, "its port does not speak TLS"
    why = (error.reason or "no reason given").lower().replace("_", " ")
    return "tls", f"the TLS handshake failed: {why}"


def _of_number(error: Exception) -> str:
    for cause in _causes(error):
        number = getattr(cause, "errno", None)
        if number in _BY_NUMBER:
            return _BY_NUMBER[number]
        if isinstance(cause, ConnectionResetError):
            return "the connection was closed"
    return "no connection could be made"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        inner = getattr(error, "certificate_error", None) or getattr(error, "os_error", None)
        error = inner or error.__cause__


def _first_line(text: str) -> str:
    """Libraries like to quote the whole answer."""
    line = text.strip().partition("\n")[0][:_LONGEST].rstrip(": .")
    return re.sub(r"\s+", " ", line) or "no reason given"
