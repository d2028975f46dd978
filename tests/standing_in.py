"""Stand-ins of services for commands, which bring an event loop of their own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from simweb.services import StandIn

Kind = TypeVar("Kind", bound=StandIn)


@contextmanager
def serving(make: Callable[[], Kind]) -> Iterator[Kind]:
    """A stand-in that serves on a loop of its own while the context is open."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def start() -> Kind:
        stand_in = make()
        await stand_in.start()
        return stand_in

    stand_in = asyncio.run_coroutine_threadsafe(start(), loop).result()
    try:
        yield stand_in
    finally:
        asyncio.run_coroutine_threadsafe(stand_in.stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
