"""The engine in its thread: whoever hands over a hint gets an answer, also when the loop ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from messor.jobs.handlers import Handlers, Result
from messor.jobs.jobs import Job
from messor.jobs.runner import RunnerLimits
from messor.runtime.broker_thread import EngineSetup, EngineThread
from messor.settings import Settings
from messor.store.database import Connection
from tests.broker.conftest import PATIENCE, QUICK


class ForgetfulLoop(asyncio.SelectorEventLoop):
    """Takes a callback and ends before its turn comes, as a loop does that is just stopping."""

    forgets = False

    def call_soon_threadsafe(  # type: ignore[override] # whatever it is given
        self, callback: Callable[..., object], *args: Any, **kwargs: Any
    ) -> asyncio.Handle:
        if self.forgets:
            return asyncio.Handle(lambda: None, (), self)
        return super().call_soon_threadsafe(callback, *args, **kwargs)


async def score(connection: Connection, job: Job) -> Result:
    return None


async def test_a_hint_that_the_loop_never_came_to_is_refused_when_it_ends(dsn: str) -> None:
    handlers = Handlers()
    handlers.handles("score")(score)
    loop = ForgetfulLoop()
    engine = EngineThread(
        Settings(database_url=dsn),
        lambda _: EngineSetup(handlers),
        QUICK,
        limits=RunnerLimits(),
        name="worker",
        new_loop=lambda: loop,
    )
    assert await asyncio.to_thread(engine.start) == ["score"]
    loop.forgets = True
    handed_over = asyncio.create_task(asyncio.to_thread(engine.hand_over, "score"))
    done, _ = await asyncio.wait([handed_over], timeout=0.2)
    assert not done
    loop.forgets = False
    engine.stop()
    async with asyncio.timeout(PATIENCE):
        assert await handed_over is False
        await asyncio.to_thread(engine.join)
    assert engine.hand_over("score") is False
