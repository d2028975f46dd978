"""What a stand-in's browser sees: the simulated web's page, redirects followed, scripts applied.

It runs no JavaScript. It only supports a script that sets an element's content from a string,
`document.getElementById("root").innerHTML = "…";`, which a real browser runs too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import urljoin, urlsplit

from simweb.answers import SimResponse

MAX_REDIRECTS = 10

_SCRIPT = re.compile(r'<script[^>]*\ssrc="([^"]+)"', re.IGNORECASE)
_FILLS = re.compile(r'getElementById\("([\w-]+)"\)\.innerHTML = ("(?:[^"\\]|\\.)*")')
_REPEATS = "setInterval("
_TAGS = re.compile(r"<[^>]+>")
_SCRIPTS = re.compile(r"<(script|style)\b.*?</\1>", re.DOTALL | re.IGNORECASE)
_REDIRECTS = (301, 302, 303, 307, 308)

# host, path with its query, secure → the simulated web's response
Respond: TypeAlias = Callable[[str, str, bool], SimResponse]


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page as a browser ends up with it, or the browser's error."""

    url: str  # where it ended
    first_status: int = 200  # of the first hop
    status: int = 200  # of the last
    html: str = ""
    unscripted: str | None = None  # before its scripts ran, if they change it
    never_idle: bool = False  # a script keeps sending requests
    headers: Mapping[str, str] = field(default_factory=dict)
    error: str | None = None  # "net::ERR_…"


Render: TypeAlias = Callable[[str], Awaitable[Rendered]]


class WorldBrowser:
    """Renders pages of the simulated web."""

    def __init__(self, respond: Respond) -> None:
        self._respond = respond

    async def __call__(self, href: str) -> Rendered:
        url, first = href, 0
        for _ in range(MAX_REDIRECTS + 1):
            response = self._get(url)
            if response is None:
                return Rendered(url, error=f"net::ERR_NAME_NOT_RESOLVED at {href}")
            if response.silent:
                return Rendered(url, error=f"net::ERR_TIMED_OUT at {href}")
            first = first or response.status
            target = response.header("Location")
            if response.status not in _REDIRECTS or target is None:
                headers = {name.lower(): value for name, value in response.headers}
                text = response.body.decode("utf-8", "replace")
                html = self._filled(url, text)
                before = text if html != text else None
                never_idle = _REPEATS in text
                return Rendered(url, first, response.status, html, before, never_idle, headers)
            url = urljoin(url, target)
        return Rendered(url, error=f"net::ERR_TOO_MANY_REDIRECTS at {href}")

    def _get(self, url: str) -> SimResponse | None:
        parts = urlsplit(url)
        path = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
        response = self._respond(parts.hostname or "", path, parts.scheme == "https")
        return None if response.status == 421 else response  # no such host

    def _filled(self, url: str, html: str) -> str:
        """The page after its scripts have run."""
        for source in _SCRIPT.findall(html):
            script = self._get(urljoin(url, source))
            if script is None or script.status != 200:
                continue
            for name, literal in _FILLS.findall(script.body.decode("utf-8", "replace")):
                opening = re.search(rf'<[a-z]+[^>]*\sid="{re.escape(name)}"[^>]*>', html)
                if opening is not None:
                    html = html[: opening.end()] + json.loads(literal) + html[opening.end() :]
        return html


def without_scripts(html: str) -> str:
    return _SCRIPTS.sub("", html)


def plain_text(html: str) -> str:
    """Replaces a service's markdown."""
    return " ".join(_TAGS.sub(" ", without_scripts(html)).split())
