"""The overview: current activity, waiting work and outcomes, updated live."""

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

TICK_SECONDS = 0.5  # poll interval without notifications
PAUSE_SECONDS = 0.05  # minimum pause between updates
CHECK_SECONDS = 0.8  # how long a stream may outlast its session
AGES_SECONDS = 10.0  # after which relative times are rendered again
MAX_SECONDS = 3_600.0  # maximum length of a stream; the browser then reconnects


async def show(call: ConsoleRequest) -> Response:
    return await call.page(
        "overview/page.html", **_template_values(await call.context.board.figures())
    )


async def live(call: ConsoleRequest) -> Response:
    """The figures as server-sent events, whenever they change."""
    call.context.rates.streams.require_room(call.actor)
    return StreamingResponse(
        _stream(call), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"}
    )


async def _stream(call: ConsoleRequest) -> AsyncIterator[str]:
    with call.context.rates.streams.holding(call.actor):
        async with aclosing(_follow(call)) as events:
            async for event in events:
                yield event


async def _follow(call: ConsoleRequest) -> AsyncGenerator[str, None]:
    shown: LiveFigures | None = None
    began = checked = time.monotonic()
    drawn_at, seen, notifications = 0.0, 0, call.context.board.notifications
    async with notifications.listening():
        while time.monotonic() - began < MAX_SECONDS:
            try:
                if time.monotonic() - checked > CHECK_SECONDS:
                    # A member who logged out or lost the role receives no further updates.
                    await sessions.resume(
                        call.context.database, cookies.read(call.request, cookies.SESSION)
                    )
                    checked = time.monotonic()
                figures = await call.context.board.figures()
            except (SessionEndedError, *LOST_CONNECTION, *TRY_AGAIN):
                return
            if figures != shown or time.monotonic() - drawn_at > AGES_SECONDS:
                shown, drawn_at = figures, time.monotonic()
                yield as_event(
                    "overview", call.draw("overview/figures.html", **_template_values(figures))
                )
            await asyncio.sleep(PAUSE_SECONDS)
            seen = await notifications.wait(seen, TICK_SECONDS)


def as_event(name: str, text: str) -> str:
    """One server-sent event; the text may have many lines."""
    lines = "".join(f"data: {line}\n" for line in text.splitlines())
    return f"event: {name}\n{lines}\n"


def _template_values(figures: LiveFigures) -> dict[str, Any]:
    rates = figures.rates
    busiest = max(rates.by_minute)
    summary = (
        f"{rates.total:,} requests in the last hour, {rates.by_minute[-1]:,} in the last minute, "
        f"{busiest:,} in the busiest"
    )
    meanings: Counter[str] = Counter()
    for outcome, count in rates.by_outcome.items():
        meanings[labels.meaning(outcome)] += count
    return {
        "figures": figures,
        "spark": charts.line([float(count) for count in rates.by_minute], summary, height=72),
        "shares": charts.shares(meanings, labels.TONES),
        "most_due": MOST_DUE,
    }


SCREENS = (
    get("/", Act.READ, show),
    get("/live", Act.READ, live),
)
