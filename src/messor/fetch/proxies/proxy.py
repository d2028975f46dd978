"""A proxy: its address, its login, and the meaning of its failures.

It is written as a URL, `socks5://user:password@host:1080`. No text produced by this module contains
the password, error messages about bad input included.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address
from urllib.parse import SplitResult, quote, unquote, urlsplit

from messor.errors import UsageError
from messor.fetch.outcome import Fetched, failed

PROTOCOLS = ("http", "https", "socks5")
EXAMPLE = "socks5://user@proxy.example:1080"
HIDDEN = "***"
# `error_type` of a fetch that failed at the proxy, before the site responded.
PROXY_FAULT = "proxy"
_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
_MAX_NAME = 255
_MAX_USERNAME = 100
# RFC 1929 gives the length of a password one byte.
_MAX_PASSWORD = 255


class ProxyError(OSError):
    """The proxy failed, not the site; an OSError so that every HTTP library lets it through.

    `at_target` means that the proxy itself works but could not or would not reach the requested
    address: either side may be at fault. `login` means that it refused our credentials.
    """

    def __init__(self, sentence: str, *, at_target: bool = False, login: bool = False) -> None:
        super().__init__(sentence)
        self.at_target = at_target
        self.login = login

    def as_fetched(self) -> Fetched:
        """The fetch result: retryable, and not counted against the host."""
        return Fetched(
            failed(PROXY_FAULT, str(self)),
            detail={"at_target": self.at_target, "login": self.login},
        )


@dataclass(frozen=True, slots=True)
class ProxyAddress:
    """Address and user of a proxy; one row of the registry each."""

    protocol: str
    host: str
    port: int
    username: str = ""

    @property
    def name(self) -> str:
        """For people and logs: without the login."""
        return f"{self.protocol}://{self.authority}"

    @property
    def url(self) -> str:
        """The unique key: with the user, without the password."""
        user = f"{quote(self.username, safe='')}@" if self.username else ""
        return f"{self.protocol}://{user}{self.authority}"

    @property
    def authority(self) -> str:
        return authority(self.host, self.port)


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy ready for use."""

    id: int
    endpoint: ProxyAddress
    password: str | None = field(default=None, repr=False)
    trusted: bool = False  # added by the operator on the command line: it may be private


def authority(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def understand(text: str) -> tuple[ProxyAddress, str | None]:
    """Parse a proxy as typed by a person, and the password if included."""
    try:
        parts = urlsplit(text.strip())
        port = parts.port
    except ValueError as error:
        raise UsageError(f"That is not a proxy URL. Write it like {EXAMPLE}.") from error
    protocol = parts.scheme
    if protocol.startswith("socks") and protocol != "socks5":
        raise UsageError(
            "Of the SOCKS protocols only socks5 is supported; names are always resolved locally. "
            f"Write it like {EXAMPLE}."
        )
    if protocol not in PROTOCOLS or not parts.hostname:
        raise UsageError(f"A proxy URL starts with http, https or socks5. Write it like {EXAMPLE}.")
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise UsageError(f"A proxy URL has no path. Write it like {EXAMPLE}.")
    if not port:
        raise UsageError(f"The proxy URL lacks a port. Write it like {EXAMPLE}.")
    username, password = _login(parts)
    _check_login(protocol, username, password)
    return ProxyAddress(protocol, _host(parts.hostname), port, username), password


def check_password(endpoint: ProxyAddress, password: str) -> None:
    """Check that this password can be sent at all."""
    _check_login(endpoint.protocol, endpoint.username, password)


def _login(parts: SplitResult) -> tuple[str, str | None]:
    try:
        username = unquote(parts.username or "", errors="strict")
        password = None if parts.password is None else unquote(parts.password, errors="strict")
    except UnicodeDecodeError as error:
        raise UsageError("The login in the proxy's URL is not UTF-8.") from error
    return username, password


def _check_login(protocol: str, username: str, password: str | None) -> None:
    if not (username + (password or "")).isprintable():
        raise UsageError("The login of a proxy must not contain control characters.")
    if len(username) > _MAX_USERNAME:
        raise UsageError(f"The user name of a proxy may have at most {_MAX_USERNAME} characters.")
    if protocol != "socks5" and ":" in username:
        raise UsageError(
            "The user name of an http proxy must not contain a colon."
        )  # RFC 7617 section 2
    if password is None:
        return
    if not username:
        raise UsageError(f"A password requires a user name. Write it like {EXAMPLE}.")
    if not 0 < len(password.encode()) <= _MAX_PASSWORD:
        raise UsageError(f"The password of a proxy must have 1 to {_MAX_PASSWORD} bytes.")


def _host(host: str) -> str:
    """A host name or address in canonical form."""
    try:
        address = ip_address(host)
    except ValueError:
        name = host.lower().removesuffix(".")
        if len(name) > _MAX_NAME or not _NAME.fullmatch(name) or _looks_numeric(name):
            raise UsageError(
                "The host of the proxy is neither a host name nor an IP address."
            ) from None
        return name
    if isinstance(address, IPv6Address) and address.scope_id:
        raise UsageError("The address of the proxy must not have a zone.")
    return str(address)


def _looks_numeric(name: str) -> bool:
    """Legacy notations of IPv4 addresses ("127.1"), which resolvers interpret differently."""
    last = name.rpartition(".")[2]
    return last.isdigit() or last.startswith("0x")
