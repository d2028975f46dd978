"""Classifies what a service reports as if we had fetched it: status to outcome, HTML to body.

Our own reader makes the markdown, so only HTML counts as content. A page at another URL than
requested is a redirect: it is decided on and paced there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from multidict import CIMultiDict

from messor.fetch.outcome import (
    OK,
    REDIRECTS,
    WITH_BODY,
    Fetched,
    FetchResult,
    Outcome,
    failed,
    is_html,
)
from messor.fetch.services.faults import ProviderFaultError
from messor.web.urls import canonical, parse

HTML = "text/html; charset=utf-8"
# Headers about the use of a page; the rest describes bytes we never saw.
KEPT_HEADERS = ("X-Robots-Tag", "TDM-Reservation", "TDM-Policy", "Content-Language", "Retry-After")

_NET_ERROR = re.compile(r"net::(ERR_[A-Z0-9_]+)")
_OUT_OF_TIME = re.compile(r"Timeout \d+ ?ms exceeded")
# Chromium's error codes that concern the service's own network, not the site.
_OWN_NETWORK = ("PROXY", "TUNNEL", "INTERNET_DISCONNECTED", "NETWORK_", "INSUFFICIENT", "SOCKS")


@dataclass(frozen=True, slots=True)
class ReportedPage:
    """A page as reported by a service."""

    # None where the contract reports none. A 3xx was followed, or led back to the requested page.
    status: int | None = None
    final_url: str | None = None
    html: str | None = None
    content_type: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Brought:
    """An outcome of the site, and the credits the service counted for it."""

    fetched: Fetched
    credits: int = 1


def judge(title: str, requested: str, seen: ReportedPage, cap: int) -> Fetched:
    """Classify a service's report as our own HTTP would have."""
    away = _elsewhere(title, requested, seen.final_url)
    if away is not None:
        status = seen.status if seen.status in REDIRECTS else None
        return Fetched(OK.redirected(away), status)
    status = 200 if seen.status is None or 300 <= seen.status < 400 else seen.status
    body = (seen.html or "").encode("utf-8", "replace")
    if len(body) > cap:
        return Fetched(failed("too_large", f"the page is more than {cap} bytes"), status)
    headers = _headers(seen)
    raw_headers = tuple((name.encode(), text.encode()) for name, text in headers.items())
    fetched = Fetched(
        status=status,
        headers=headers,
        raw_headers=raw_headers,
        wire=body,
        body=body,
        size=len(body),
        reason=_phrase(status),
    ).classify()
    if fetched.outcome in WITH_BODY and not is_html(fetched.content_type, b""):
        fetched.result = fetched.result.not_html()
        fetched.let_go()  # what a browser shows in place of the file
        fetched.size = 0
    elif fetched.outcome is Outcome.EMPTY and seen.html is None:
        raise ProviderFaultError(f"{title} returned no HTML of the page.", charged=True)
    return fetched


def failure_at_site(message: str) -> FetchResult | None:
    """The site's failure behind a browser's error text; None when it is not the site's."""
    if _OUT_OF_TIME.search(message):
        return failed("timeout", "the site gave no complete response in time")
    found = _NET_ERROR.search(message)
    if found is None or any(part in found[1] for part in _OWN_NETWORK):
        return None
    code = found[1]
    if "TIMED_OUT" in code:
        return failed("timeout", "the site gave no response in time")
    if code.startswith("ERR_NAME_"):
        return failed("dns", "the host's name does not resolve")
    if code.startswith(("ERR_CERT_", "ERR_SSL_")):
        return failed("tls", f"the site's certificate is not valid ({code})")
    return failed("connect", f"the site could not be read ({code})")


def _elsewhere(title: str, requested: str, final: str | None) -> str | None:
    """The final URL of a page, when it differs from the requested page."""
    if not final:
        return None
    url = parse(final)
    if url is None:  # a browser's error page, or a blank one
        raise ProviderFaultError(f"{title} did not end at a web page.", charged=True)
    return None if canonical(url) == canonical(requested) else url.href


def _headers(seen: ReportedPage) -> CIMultiDict[str]:
    given = CIMultiDict(seen.headers)
    is_page = not seen.content_type or is_html(seen.content_type, b"")
    headers = CIMultiDict({"Content-Type": HTML if is_page else _flat(seen.content_type or "")})
    for name in KEPT_HEADERS:
        if value := _flat(given.get(name, "")):
            headers[name] = value
    return headers


def _flat(value: str) -> str:
    """One header line: browsers join repeated headers with line feeds."""
    joined = ", ".join(part.strip() for part in value.splitlines())
    return "".join(c for c in joined if c.isprintable())[:1000]


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
