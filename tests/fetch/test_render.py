"""A render leaves nothing running, whenever it ends; the browser's side is played by hand here.

Chromium decides when its events come, so the moments that matter cannot be had from a real one.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from typing import Any, cast

from playwright.async_api import BrowserContext, Error

from messor.fetch.browser.limits import BrowserLimits
from messor.fetch.browser.render import Render
from messor.fetch.browser.traffic import Traffic
from messor.fetch.outcome import Outcome
from messor.web.urls import parse
from tests.fetch.conftest import permit

PAUSED = {"requestId": "1", "frameId": "main", "request": {"url": "http://one.test/"}}


class Handles:
    """What takes handlers of events, as the driver's objects do."""

    def __init__(self) -> None:
        self.handlers: dict[str, Callable[[Any], None]] = {}

    def on(self, event: str, handler: Callable[[Any], None]) -> None:
        self.handlers[event] = handler


class Devtools(Handles):
    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    async def send(self, method: str, _params: object = None) -> dict[str, Any]:
        self.said.append(method)
        return {"frameTree": {"frame": {"id": "main"}}}


class Tab(Handles):
    """A page that breaks off while it comes to rest, in the moment another answer comes in."""

    def __init__(self, devtools: Devtools) -> None:
        super().__init__()
        self._devtools = devtools

    async def goto(self, _href: str, **_options: object) -> None:
        return None

    async def wait_for_load_state(self, state: str, **_options: object) -> None:
        if state != "networkidle":
            return
        self._devtools.handlers["Fetch.requestPaused"](PAUSED)
        raise Error("net::ERR_CONNECTION_RESET")


class Popup:
    """A window that opens while the render ends."""

    def __init__(self) -> None:
        self.closed = 0

    async def close(self) -> None:
        self.closed += 1


class Context(Handles):
    def __init__(self) -> None:
        super().__init__()
        self.devtools = Devtools()

    async def route(self, _pattern: str, _handler: object) -> None:
        return None

    async def new_page(self) -> Tab:
        return Tab(self.devtools)

    async def new_cdp_session(self, _page: Tab) -> Devtools:
        return self.devtools


async def test_an_answer_that_comes_as_the_render_ends_leaves_nothing_behind() -> None:
    url, limits = parse("http://one.test/"), BrowserLimits()
    assert url is not None
    context, popup = Context(), Popup()
    others = asyncio.all_tasks()
    fetched = await Render(url, Traffic(url, permit(), limits), limits, 1000).run(
        cast("BrowserContext", context)
    )
    assert fetched.outcome is Outcome.ERROR
    assert fetched.error == "the connection was reset (in the browser, ERR_CONNECTION_RESET)"
    assert "Fetch.continueRequest" not in context.devtools.said  # it was not begun
    context.devtools.handlers["Fetch.requestPaused"](PAUSED)  # and these come late
    context.handlers["page"](popup)
    assert asyncio.all_tasks() == others
    assert popup.closed == 0
    gc.collect()  # a coroutine nobody awaited would be told of here, and warnings are errors
