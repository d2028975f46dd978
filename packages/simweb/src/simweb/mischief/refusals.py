"""Hosts that refuse, defer or return nothing: 403, 429, 503, a challenge, shells and blanks."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime

from simweb.answers import Request, SimResponse, plain
from simweb.documents import HTML, http_date
from simweb.markup import piece
from simweb.mischief.flaw import Flaw, Links, always, page

_RATION = 5  # requests before the pause
_PAUSE_S = 3
_OUTAGE_S = 4


def flaws(now: Callable[[], float]) -> list[Flaw]:
    return [
        Flaw("forbidden.test", "forbidden", always(_forbidden()), 1),
        Flaw("too-many-requests.test", "too-many-requests", Rationing(now), 12),
        Flaw("unavailable.test", "unavailable", Outage(now), 2),
        Flaw("challenge.test", "challenge", _challenge, 1),
        Flaw("single-page.test", "single-page", always(_shell()), 1),
        Flaw("empty-page.test", "empty-page", _empty, 2),
        Flaw("soft-404.test", "soft-404", _soft_404, 2),
    ]


def _forbidden() -> SimResponse:
    return SimResponse(403, (("Content-Type", HTML),), piece("forbidden").encode())


class Rationing:
    """Returns 429 for some seconds after some requests, then starts counting again."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._count = 0
        self._closed_until = 0.0

    def __call__(self, request: Request) -> SimResponse:
        now = self._now()
        if now >= self._closed_until:
            self._count += 1
            if self._count <= _RATION:
                return _numbered(request)
            self._count = 0
            self._closed_until = now + _PAUSE_S
        wait_s = math.ceil(self._closed_until - now)
        return plain(429, "Slow down, please.\n", ("Retry-After", str(wait_s)))


def _numbered(request: Request) -> SimResponse:
    links: Links = tuple((f"/shelf/{n}", f"Shelf {n}") for n in range(1, 12))
    return page(f"Shelf {request.route}", ("One shelf at a time.",), links)


class Outage:
    """Down for some seconds from its first request on; announces the end as a date."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._until: float | None = None

    def __call__(self, request: Request) -> SimResponse:
        if self._until is None:
            # Whole seconds, because an HTTP date has no finer resolution.
            self._until = math.ceil(self._now()) + _OUTAGE_S
        if self._now() < self._until:
            date = http_date(datetime.fromtimestamp(self._until, UTC))
            return plain(503, "Back soon.\n", ("Retry-After", date))
        return page(f"Back again: {request.route}", ("The works are over.",), (("/two", "Two"),))


def _challenge(request: Request) -> SimResponse:
    """A challenge page: as 403 everywhere, and as 200 on one page, as some sites send it."""
    status = 200 if request.route == "/later" else 403
    headers = (("Content-Type", HTML), ("cf-mitigated", "challenge"), ("Cache-Control", "no-store"))
    return SimResponse(status, headers, piece("challenge").encode())


def _shell() -> SimResponse:
    return SimResponse(200, (("Content-Type", HTML),), piece("shell").encode())


def _empty(request: Request) -> SimResponse:
    if request.route == "/":
        return page("Two rooms", ("One of them is empty.",), (("/empty", "The empty room"),))
    return SimResponse(200, (("Content-Type", HTML),))


def _soft_404(request: Request) -> SimResponse:
    """Unknown paths return 200 with a text that says not found."""
    links: Links = (("/", "Home"), ("/about", "About"), ("/lost", "A page that was removed"))
    if request.route in ("/", "/about"):
        return page(f"A tidy house {request.route}", ("Nothing is ever lost here.",), links)
    return page("Page not found", ("Sorry, this page does not exist any more.",), links[:1])
