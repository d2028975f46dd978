"""Parts of a misbehaving host: a name, a handler, a robots.txt and plain pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from simweb.answers import Headers, Request, SimResponse, plain
from simweb.chance import draw
from simweb.documents import HTML
from simweb.markup import esc, piece
from simweb.prose import Writer

Handler: TypeAlias = Callable[[Request], SimResponse]
Links: TypeAlias = tuple[tuple[str, str], ...]  # target, text

OPEN_ROBOTS = plain(200, "User-agent: *\nAllow: /\n")


def open_robots(_: Request) -> SimResponse:
    return OPEN_ROBOTS


@dataclass(frozen=True, slots=True)
class Flaw:
    host: str
    kind: str
    handler: Handler
    pages: int
    robots: Handler = open_robots
    jitter_ms: int = 0


class FlawedHost:
    def __init__(self, flaw: Flaw) -> None:
        self._flaw = flaw

    def warm(self, epoch: int) -> None:
        """Nothing to prepare."""

    def respond(self, request: Request) -> SimResponse:
        if request.route == "/robots.txt":
            return self._flaw.robots(request)
        return self._flaw.handler(request)


def html(title: str, texts: tuple[str, ...] = (), links: Links = (), head: str = "") -> str:
    """A bare page: a title, paragraphs, a list of links."""
    main = "".join(piece("paragraph", text=esc(text)) for text in texts)
    main += "".join(piece("link_entry", href=esc(to), text=esc(text)) for to, text in links)
    return piece("bare", title=esc(title), head=head, main=main)


def page(
    title: str, texts: tuple[str, ...] = (), links: Links = (), extra: Headers = ()
) -> SimResponse:
    body = html(title, texts, links).encode()
    return SimResponse(200, (("Content-Type", HTML), *extra), body)


def not_found(_: Request | None = None) -> SimResponse:
    return plain(404, "There is no such page.\n")


def routes(table: dict[str, Handler]) -> Handler:
    """A handler that looks up the path, without its query."""
    return lambda request: table.get(request.route, not_found)(request)


def always(answer: SimResponse) -> Handler:
    return lambda _: answer


def small_site(seed: int, host: str, names: tuple[str, ...] = ("one", "two", "three")) -> Handler:
    """A homepage and a few valid pages that link to each other, with prose of their own."""
    links: Links = (("/", "Home"), *((f"/{name}", f"Page {name}") for name in names))
    table = {}
    for path, text in links:
        writer = Writer(draw(seed, host, path), kind="firm")
        table[path] = always(page(f"{text} of {host}", tuple(writer.paragraphs(3)), links))
    return routes(table)
