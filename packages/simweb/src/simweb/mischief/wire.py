"""Hosts that misbehave on the wire: silence, drips, false lengths, resets, bombs, floods."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import repeat

from simweb import splice
from simweb.answers import Ending, Request, SimResponse, Stream
from simweb.chance import draw
from simweb.documents import HTML
from simweb.markup import esc, piece
from simweb.mischief.flaw import Flaw, Handler, Links, html, page, small_site
from simweb.prose import Writer

_HTML = (("Content-Type", HTML),)
_DRIP_PAUSE_S = 0.5
_STALL_PAUSE_S = 5.0
_FLOOD_PAUSE_S = 0.002
_BOMB_BLOCK = 1 << 20
_BOMB_BLOCKS = 10_000  # ten gigabytes of blanks
_HEADER_LINES = 300
_JITTER_MS = 400


def flaws(seed: int) -> list[Flaw]:
    flawed = {
        "stall": SimResponse(200, silent=True),
        "slow-drip": _drip(seed),
        "short-length": _claiming(seed, "short-length.test", 0.5),
        "long-length": replace(_claiming(seed, "long-length.test", 2.0), ending=Ending.CLOSE),
        "reset": replace(_claiming(seed, "reset.test", 2.0), ending=Ending.RESET),
        "gzip-bomb": SimResponse(200, (*_HTML, ("Content-Encoding", "gzip")), stream=Stream(_bomb)),
        "endless": SimResponse(200, _HTML, stream=Stream(partial(_flood, seed), _FLOOD_PAUSE_S)),
    }
    found = [Flaw(f"{kind}.test", kind, _with_home(kind, a), 2) for kind, a in flawed.items()]
    closing, jittery = small_site(seed, "closing.test"), small_site(seed, "jittery.test")
    return [
        *found,
        Flaw("huge-headers.test", "huge-headers", _huge_headers, 2),
        Flaw("closing.test", "closing", lambda request: _closing(closing(request)), 4),
        Flaw("jittery.test", "jittery", jittery, 4, jitter_ms=_JITTER_MS),
    ]


def _with_home(kind: str, flawed: SimResponse) -> Handler:
    links: Links = (("/", "Home"), ("/flawed", "The other room"))
    home = page(f"The front room of {kind}", ("This room is in order.",), links)
    return lambda request: home if request.route == "/" else flawed


def stalling(host: str, pages: int, *, drips: bool) -> Flaw:
    """A host whose homepage links to many pages that never arrive, or a byte now and then."""
    links: Links = tuple((f"/room/{number}", f"Room {number}") for number in range(1, pages))
    home = page(f"The many rooms of {host}", ("Please wait to be seated.",), links)
    drop = Stream(lambda: repeat(b" "), _STALL_PAUSE_S)
    never = SimResponse(200, _HTML, stream=drop) if drips else SimResponse(200, silent=True)
    return Flaw(host, "stalling", lambda asked: home if asked.route == "/" else never, pages)


def _text(seed: int, host: str) -> str:
    return html("The other room", tuple(Writer(draw(seed, host)).paragraphs(8)))


def _claiming(seed: int, host: str, factor: float) -> SimResponse:
    """A whole page with a Content-Length that many times its size."""
    body = _text(seed, host).encode()
    return SimResponse(200, _HTML, body, claimed_length=int(len(body) * factor))


def _drip(seed: int) -> SimResponse:
    """One byte at a time, as a tarpit does."""
    body = _text(seed, "slow-drip.test").encode()

    def drops() -> Iterator[bytes]:
        return (body[n : n + 1] for n in range(len(body)))

    return SimResponse(
        200, _HTML, stream=Stream(drops, _DRIP_PAUSE_S, chunked=False), claimed_length=len(body)
    )


def _bomb() -> Iterator[bytes]:
    """A valid gzip member of one small compressed block sent over and over."""
    blanks = b" " * _BOMB_BLOCK
    block, crc = splice.deflate(blanks), 0
    yield splice.start()
    for _ in range(_BOMB_BLOCKS):
        crc = splice.crc32(blanks, crc)
        yield block
    yield splice.end(crc, _BOMB_BLOCK * _BOMB_BLOCKS)


def _flood(seed: int) -> Iterator[bytes]:
    writer = Writer(draw(seed, "endless.test"))
    yield html("A story without end").removesuffix("</body></html>\n").encode()
    while True:
        yield piece("paragraph", text=esc(writer.paragraph(20))).encode()


def _huge_headers(request: Request) -> SimResponse:
    if request.route == "/":
        return page("A talkative house", ("Mind the headers.",), (("/flawed", "Listen"),))
    padding = tuple((f"X-Remark-{n}", "and another thing; " * 50) for n in range(_HEADER_LINES))
    return page("A talkative house", ("That was it.",), extra=padding)


def _closing(answer: SimResponse) -> SimResponse:
    return replace(answer, ending=Ending.CLOSE)
