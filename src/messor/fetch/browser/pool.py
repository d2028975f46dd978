"""The browser pool: one browser with a limited lifetime and a limited number of renders.

The browser starts with the first render and is replaced when it has rendered many pages, grown too
large or exited; a page that does not close takes the browser down with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from playwright.async_api import BrowserContext, Error

from messor.errors import UnavailableError
from messor.fetch.browser.chromium import Chromium
from messor.fetch.browser.limits import BrowserLimits
from messor.fetch.browser.render import Render
from messor.fetch.browser.traffic import Traffic
from messor.fetch.outcome import Fetched, failed
from messor.web.urls import Url

WATCH_SECONDS = 0.5


class BrowserPool:
    """Renders pages in fresh contexts and enforces their time limits."""

    def __init__(self, limits: BrowserLimits, proxy: str, agent: str, max_bytes: int) -> None:
        self._limits = limits
        self._max_bytes = max_bytes
        self._proxy = proxy
        self._agent = agent
        self._slots = asyncio.Semaphore(limits.contexts)
        self._door = asyncio.Lock()
        self._open = 0  # contexts
        self._all_closed = asyncio.Event()
        self._all_closed.set()
        self._idle: asyncio.TimerHandle | None = None
        self._watching: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.chromium: Chromium | None = None  # the current browser

    async def render(self, url: Url, traffic: Traffic, credential: tuple[str, str]) -> Fetched:
        """Render one page within its time limit; raises UnavailableError for faults of the browser."""
        try:
            return await self._render(url, traffic, credential)
        except _DeadBrowserError:
            if traffic.has_departed:
                raise
        # The browser had died before this render began: one retry with a new one is worthwhile.
        return await self._render(url, traffic, credential)

    async def _render(self, url: Url, traffic: Traffic, credential: tuple[str, str]) -> Fetched:
        chromium = await self._enter()
        rendering = Render(url, traffic, self._limits, self._max_bytes)
        try:
            async with (
                asyncio.timeout(self._limits.render_seconds),
                self._context(chromium, credential) as context,
            ):
                return await chromium.while_alive(rendering.run(context))
        except TimeoutError as error:
            if traffic.has_departed:
                return _late(rendering)
            chromium.is_failing = True
            raise _DeadBrowserError("The browser did not request the page in time.") from error
        except Error as error:
            chromium.is_failing = not traffic.has_departed
            reason = error.message.partition("\n")[0]
            raise _DeadBrowserError(f"The browser failed: {reason}") from error

    @asynccontextmanager
    async def _context(
        self, chromium: Chromium, credential: tuple[str, str]
    ) -> AsyncIterator[BrowserContext]:
        """A context for one render; it is closed in the background, within a time limit."""
        # Opening is not cancelled with the render: an opened context must be closed.
        opening = asyncio.ensure_future(chromium.open(self._proxy, credential, self._agent))
        try:
            yield await chromium.while_alive(asyncio.shield(opening))
        finally:
            self._run_in_background(self._leave(chromium, opening))

    async def close(self) -> None:
        """Wait for pending closes, then close the browser."""
        while self._tasks:
            await asyncio.wait(self._tasks)
        async with self._door:
            await self._discard()

    async def _enter(self) -> Chromium:
        try:
            async with asyncio.timeout(self._limits.render_seconds):
                await self._slots.acquire()
        except TimeoutError as error:
            raise UnavailableError("The browser is busy with other pages.") from error
        try:
            async with self._door:
                return await self._ready()
        except BaseException:
            self._slots.release()
            raise

    async def _ready(self) -> Chromium:
        """The current browser, replaced first when necessary."""
        if self.chromium is not None and self._is_worn(self.chromium):
            await self._all_closed.wait()
            await self._discard()
        if self.chromium is None:
            self.chromium = await Chromium.launch(self._limits, self._proxy)
            self._watching = asyncio.ensure_future(self._watch(self.chromium))
        self._open += 1
        self._all_closed.clear()
        if self._idle is not None:
            self._idle.cancel()
        return self.chromium

    def _is_worn(self, chromium: Chromium) -> bool:
        return (
            chromium.is_failing
            or not chromium.is_alive
            or chromium.renders >= self._limits.renders
            or chromium.memory() > self._limits.memory_mb * 1_000_000
        )

    async def _leave(self, chromium: Chromium, opening: asyncio.Future[BrowserContext]) -> None:
        try:
            await self._close_context(chromium, opening)
        finally:
            self._open -= 1
            if not self._open:
                self._all_closed.set()
                loop = asyncio.get_running_loop()
                self._idle = loop.call_later(
                    self._limits.idle_seconds, lambda: self._run_in_background(self._close_idle())
                )
            self._slots.release()

    async def _close_context(
        self, chromium: Chromium, opening: asyncio.Future[BrowserContext]
    ) -> None:
        try:
            async with asyncio.timeout(self._limits.closing_seconds):
                context = await chromium.while_alive(opening)
                await chromium.while_alive(context.close())
        except TimeoutError:
            chromium.kill("a page could not be closed")
        except Error:
            pass  # the browser exited, and the context with it

    async def _watch(self, chromium: Chromium) -> None:
        """Kill a browser that exceeds its memory limit during a render."""
        most = 2 * self._limits.memory_mb * 1_000_000
        while chromium.is_alive:
            await asyncio.sleep(WATCH_SECONDS)
            if self._open and await asyncio.to_thread(chromium.memory) > most:
                chromium.kill(f"it used more than {most // 1_000_000} MB")

    async def _close_idle(self) -> None:
        async with self._door:
            if not self._open:
                await self._discard()

    async def _discard(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        if self._watching is not None:
            self._watching.cancel()
        if self.chromium is not None:
            chromium, self.chromium = self.chromium, None
            await chromium.close(self._limits.closing_seconds)

    def _run_in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class _DeadBrowserError(UnavailableError):
    """The browser broke during a render."""


def _late(rendering: Render) -> Fetched:
    if rendering.has_answer:
        return Fetched(failed("timeout", "the page did not settle in time"))
    return Fetched(failed("timeout", "no complete response in time"))
