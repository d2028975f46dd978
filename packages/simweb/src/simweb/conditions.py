"""Imperfect conditions of the hosts of bulk profiles, and the wrappers that impose them.

Each wrapper changes the responses of a well-behaved host in one way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from simweb.answers import Request, Responder, SimResponse, plain
from simweb.epochs import share

RETRY_AFTER_S = 8
_REFUSED_SHARE = 0.15  # of a refusing host's pages
_MAX_REFUSALS = 2  # of one host: with a third, crawlers would stop visiting it
_ASIDE = ("/robots.txt", "/sitemap")
_VALIDATORS = ("etag", "last-modified")
_CONDITIONS = ("if-none-match", "if-modified-since")


@dataclass(frozen=True, slots=True)
class Conditions:
    """Conditions of a bulk profile; none by default."""

    addresses: int = 0  # shared by all hosts; 0 gives each its own
    pause_ms: int = 0  # maximum delay before a response begins
    refusing: bool = False  # some pages return 429 when first requested
    validators: bool = True  # ETag, Last-Modified and 304
    stalling: int = 0  # additional hosts whose pages never arrive

    def impose(self, seed: int, host: str, responder: Responder) -> Responder:
        """The host under these conditions."""
        if not self.validators:
            responder = Forgetful(responder)
        if self.refusing:
            responder = Refusing(seed, host, responder)
        if self.pause_ms:
            responder = Leisurely(seed, self.pause_ms, responder)
        return responder


class _Before:
    """A wrapper that responds in a host's name."""

    def __init__(self, responder: Responder) -> None:
        self._behind = responder

    def warm(self, epoch: int) -> None:
        self._behind.warm(epoch)


class Forgetful(_Before):
    """Sends no validators and ignores them: every response is complete."""

    def respond(self, request: Request) -> SimResponse:
        headers = {name: text for name, text in request.headers.items() if name not in _CONDITIONS}
        response = self._behind.respond(replace(request, headers=headers))
        kept_headers = tuple(
            pair for pair in response.headers if pair[0].lower() not in _VALIDATORS
        )
        return replace(response, headers=kept_headers)


class Leisurely(_Before):
    """Delays its responses, by a delay of its own for each page."""

    def __init__(self, seed: int, longest_ms: int, responder: Responder) -> None:
        super().__init__(responder)
        self._seed = seed
        self._longest_s = longest_ms / 1000

    def respond(self, request: Request) -> SimResponse:
        pause_s = self._longest_s * share(self._seed, "pause", request.host, request.path)
        return replace(self._behind.respond(request), pause_s=pause_s)


class Refusing(_Before):
    """Returns 429 with a Retry-After the first time some pages are requested."""

    def __init__(self, seed: int, host: str, responder: Responder) -> None:
        super().__init__(responder)
        self._names = (seed, "refusal", host)
        self._refused: set[str] = set()

    def respond(self, request: Request) -> SimResponse:
        if self._is_refused(request.route):
            self._refused.add(request.route)
            wait = ("Retry-After", str(RETRY_AFTER_S))
            return plain(429, f"Not now: {request.route}\n", wait)
        return self._behind.respond(request)

    def _is_refused(self, route: str) -> bool:
        return (
            route not in self._refused
            and len(self._refused) < _MAX_REFUSALS
            and not route.startswith(_ASIDE)
            and share(*self._names, route) < _REFUSED_SHARE
        )
