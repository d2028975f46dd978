"""Translates exceptions of HTTP requests into an outcome, an error type and a message.

This is the only place that does: class names, C line numbers and whole responses quoted by a
library help no reader of a report.
"""

from __future__ import annotations

import asyncio
import errno
import re
import ssl
from collections.abc import Iterator

import aiohttp

from messor.fetch.guard import RefusedAddressError
from messor.fetch.outcome import Fetched, failed
from messor.fetch.proxies.proxy import ProxyError

NO_TLS = "no_tls"

# Errors after which nothing is known to listen for https: no connection, or no TLS. An invalid
# certificate or a refused handshake is a response.
_UNCONNECTED = frozenset({"connect", "timeout", NO_TLS})

# OpenSSL's reasons for bytes that are not TLS: mostly the start of "HTTP/1.1 400".
_NOT_TLS = frozenset(
    {"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG"}
)
_BY_NUMBER = {
    errno.ECONNREFUSED: "the connection was refused",
    errno.EHOSTUNREACH: "there is no route to the host",
    errno.ENETUNREACH: "its network is unreachable",
    errno.ECONNRESET: "the connection was reset",
    errno.EPIPE: "the connection was closed",
}
_MAX_LENGTH = 150


def is_unconnected(fetched: Fetched) -> bool:
    """Whether a request was never sent because nothing accepted a connection at its port."""
    return not fetched.sent_at and fetched.error_type in _UNCONNECTED


def of_error(error: Exception) -> Fetched:
    """The result of a request that ended in an error."""
    for cause in _causes(error):
        if isinstance(cause, RefusedAddressError):
            return Fetched(failed("refused_address", cause.strerror or ""))
        if isinstance(cause, ProxyError):
            return cause.as_fetched()
        if isinstance(cause, asyncio.TimeoutError):
            return Fetched(failed("timeout", "no connection in time"))
    return Fetched(failed(*_describe(error)))


def words(error: Exception) -> str:
    """Describe a failed request, to any peer, for people."""
    return of_error(error).error or "no reason given"


def _describe(error: Exception) -> tuple[str, str]:
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLError) and not isinstance(cause, aiohttp.ClientError):
            return _of_tls(cause)
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "dns", "the name does not resolve"
    if isinstance(error, aiohttp.ClientPayloadError):
        return "truncated", "the response ended before it was complete"
    if isinstance(error, aiohttp.ClientConnectorError):
        return "connect", _of_number(error)
    if isinstance(error, (aiohttp.ClientConnectionError, OSError)):
        return "protocol", "the connection was closed before the response was complete"
    what = _first_line(getattr(error, "message", "") or str(error))
    return "protocol", f"the response is not valid HTTP ({what})"


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
    """The first line: libraries tend to quote the whole response."""
    line = text.strip().partition("\n")[0][:_MAX_LENGTH].rstrip(": .")
    return re.sub(r"\s+", " ", line) or "no reason given"
