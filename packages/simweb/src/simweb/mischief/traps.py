"""Crawler traps: an endless calendar, and links that carry a new session id every time."""

from __future__ import annotations

import re
from hashlib import blake2b

from simweb.answers import Request, SimResponse, redirect
from simweb.chance import draw
from simweb.mischief.flaw import Flaw, Handler, Links, not_found, page
from simweb.prose import Writer

_MONTH = re.compile(r"/calendar/(\d{4})/(\d{1,2})(?:/(\d{1,2}))?")
_ROOMS = 6


def flaws(seed: int) -> list[Flaw]:
    return [
        Flaw("calendar-trap.test", "calendar-trap", _calendar, 1),
        Flaw("session-trap.test", "session-trap", _sessions(seed), _ROOMS),
    ]


def _calendar(request: Request) -> SimResponse:
    """Every month links the one before, the one after and its days; there is no last month."""
    if request.route == "/":
        return page("Events", ("See what is on.",), (("/calendar/2026/11", "Calendar"),))
    found = _MONTH.fullmatch(request.route)
    if found is None:
        return not_found()
    year, month = int(found[1]), int(found[2])
    if found[3]:
        return page(f"{year}-{month}-{found[3]}", ("No events on this day.",))
    before, after = divmod(year * 12 + month - 2, 12), divmod(year * 12 + month, 12)
    days: Links = tuple((f"{request.route}/{day}", str(day)) for day in range(1, 29))
    turns: Links = (
        (f"/calendar/{before[0]:04}/{before[1] + 1}", "Previous month"),
        (f"/calendar/{after[0]:04}/{after[1] + 1}", "Next month"),
    )
    return page(f"Events in {year}-{month}", ("No events this month.",), (*turns, *days))


def _sessions(seed: int) -> Handler:
    """A few rooms, each under endlessly many addresses; the content depends on the room alone."""

    def handle(request: Request) -> SimResponse:
        room = request.route.removeprefix("/room/") if request.route != "/" else "0"
        if not room.isdecimal() or int(room) >= _ROOMS:
            return not_found()
        if not request.query.startswith("sid="):
            return redirect(f"{request.route}?sid={_session(request.path)}")
        writer = Writer(draw(seed, "session-trap.test", room), kind="shop")
        links: Links = tuple(
            (f"/room/{n}?sid={_session(f'{request.path}{n}')}", f"Room {n}") for n in range(_ROOMS)
        )
        return page(f"Room {room}", tuple(writer.paragraphs(2)), links)

    return handle


def _session(name: str) -> str:
    return blake2b(name.encode(), digest_size=12).hexdigest()
