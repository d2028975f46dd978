"""HTTP heads that pass the pinning proxy: requests of the browser, responses of hosts.

Each request is forwarded as one message on its own connection: hop-by-hop headers are dropped, and
neither side may reuse the connection.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass

from messor.web.urls import Url, parse

MAX_HEAD = 65_536
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_AUTHORITY = re.compile(r"[^/?#@\\\s]+:\d{1,5}")
_STATUS = re.compile(r"HTTP/1\.[01] (\d{3})(?: |$)")
# RFC 9110 7.6.1, and headers that concern the proxy.
_HOP_BY_HOP = frozenset(
    {"connection", "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer",
     "upgrade", "host"}
)  # fmt: skip

Fields = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class ProxyRequest:
    """A request to the proxy: CONNECT to an authority, or an absolute http URL."""

    method: str
    url: Url  # for CONNECT only host and port are meaningful
    fields: Fields

    @property
    def is_tunnel(self) -> bool:
        return self.method == "CONNECT"

    @property
    def credential(self) -> str | None:
        """User and password as "user:password"."""
        scheme, _, text = _value(self.fields, "proxy-authorization").partition(" ")
        if scheme.lower() != "basic":
            return None
        try:
            return base64.b64decode(text.strip(), validate=True).decode("latin-1")
        except binascii.Error:
            return None

    @property
    def body_length(self) -> int | None:
        """Bytes of the body; None when unknown in advance."""
        lengths = {value for name, value in self.fields if name.lower() == "content-length"}
        if _value(self.fields, "transfer-encoding") or len(lengths) > 1:
            return None
        text = lengths.pop() if lengths else "0"
        return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None

    def onward(self) -> bytes:
        """The head as it is forwarded to the host."""
        fields = [(name, value) for name, value in self.fields if name.lower() not in _HOP_BY_HOP]
        fields = [("Host", self.url.authority), *fields, ("Connection", "close")]
        return _join(f"{self.method} {self.url.target} HTTP/1.1", fields)


def parse_request(head: bytes) -> ProxyRequest | None:
    """Parse a request's head up to its empty line; None when it is not a proxy request."""
    parted = _part(head)
    if parted is None:
        return None
    line, fields = parted
    method, _, rest = line.partition(" ")
    target, _, version = rest.partition(" ")
    if version not in ("HTTP/1.1", "HTTP/1.0") or not _TOKEN.fullmatch(method):
        return None
    if method == "CONNECT":
        url = parse(f"https://{target}/") if _AUTHORITY.fullmatch(target) else None
    else:
        url = parse(target) if target.lower().startswith("http://") else None
    return None if url is None else ProxyRequest(method, url, fields)


def final_answer(head: bytes) -> tuple[int, bytes] | None:
    """Status and head of a response, with the connection marked as closing; None when malformed."""
    parted = _part(head)
    status = _STATUS.match(parted[0]) if parted else None
    if parted is None or status is None:
        return None
    line, fields = parted
    kept = [(name, value) for name, value in fields if name.lower() not in _HOP_BY_HOP]
    return int(status[1]), _join(line, [*kept, ("Connection", "close")])


def _part(head: bytes) -> tuple[str, Fields] | None:
    line, *rest = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    fields = []
    for text in rest:
        name, colon, value = text.partition(":")
        if not colon or not _TOKEN.fullmatch(name) or any(mark in value for mark in "\r\n\0"):
            return None
        fields.append((name, value.strip()))
    return line, fields


def _join(line: str, fields: Fields) -> bytes:
    lines = [line, *(f"{name}: {value}" for name, value in fields), "", ""]
    return "\r\n".join(lines).encode("latin-1")


def _value(fields: Fields, wanted: str) -> str:
    return next((value for name, value in fields if name.lower() == wanted), "")
