"""The overview: what runs, what waits, what came of it; kept fresh while the page is open."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

from starlette.responses import Response, StreamingResponse

from messor.access import sessions
from messor.access.errors import SessionEndedError
from messor.access.roles import Act
from messor.console import charts, cookies, labels
from messor.console.call import ConsoleRequest
from messor.console.live import LiveFigures
from messor.console.screens import get
from messor.ops.overview import MOST_DUE
from messor.store.database import LOST_CONNECTION, TRY_AGAIN

TICK_SECONDS = 0.5  # between looks when nothing is heard of
PAUSE_SECONDS = 0.05  # however much happens
CHECK_SECONDS = 0.8  # how long a stream may outlast its session
AGES_SECONDS = 10.0  # after which "3 minutes ago" is drawn again
LONGEST_SECONDS = 3_600.0  # of one stream; the browser then opens another


async def show(call: ConsoleRequest) -> Response:
    return await call.page("overview/page.html", **_drawn(await call.desk.board.figures()))


async def live(call: ConsoleRequest) -> Response:
    """The figures as server-sent events, whenever they change."""
    call.desk.rates.streams.require_room(call.actor)
    return StreamingResponse(
        _stream(call), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"}
    )


async def _stream(call: ConsoleRequest) -> AsyncIterator[str]:
    with call.desk.rates.streams.holding(call.actor):
        async with aclosing(_follow(call)) as events:
            async for event in events:
                yield event


async def _follow(call: ConsoleRequest) -> AsyncGenerator[str, None]:
    shown: LiveFigures | None = None
    began = checked = time.monotonic()
    drawn_at, heard, bell = 0.0, 0, call.desk.board.bell
    async with bell.listening():
        while time.monotonic() - began < LONGEST_SECONDS:
            try:
                if time.monotonic() - checked > CHECK_SECONDS:
                    # Who logged out, or lost the role, sees nothing new from then on.
                    await sessions.resume(
                        call.desk.database, cookies.read(call.request, cookies.SESSION)
                    )
                    checked = time.monotonic()
                figures = await call.desk.board.figures()
            except (SessionEndedError, *LOST_CONNECTION, *TRY_AGAIN):
                return
            if figures != shown or time.monotonic() - drawn_at > AGES_SECONDS:
                shown, drawn_at = figures, time.monotonic()
                yield as_event("overview", call.draw("overview/figures.html", **_drawn(figures)))
            await asyncio.sleep(PAUSE_SECONDS)
            heard = await bell.wait(heard, TICK_SECONDS)


def as_event(name: str, text: str) -> str:
    """One server-sent event; the text may have many lines."""
    lines = "".join(f"data: {line}\n" for line in text.splitlines())
    return f"event: {name}\n{lines}\n"


def _drawn(figures: LiveFigures) -> dict[str, Any]:
    rates = figures.rates
    busiest = max(rates.by_minute)
    said = (
        f"{rates.total:,} requests in the last hour, {rates.by_minute[-1]:,} in the last minute, "
        f"{busiest:,} in the busiest"
    )
    meanings: Counter[str] = Counter()
    for outcome, count in rates.by_outcome.items():
        meanings[labels.meaning(outcome)] += count
    return {
        "figures": figures,
        "spark": charts.line([float(count) for count in rates.by_minute], said, height=72),
        "shares": charts.shares(meanings, labels.TONES),
        "most_due": MOST_DUE,
    }


SCREENS = (
    get("/", Act.READ, show),
    get("/live", Act.READ, live),
)
