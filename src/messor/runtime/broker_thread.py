"""The process's engine in a thread of its own: one event loop with the runner and its companions.

Celery's threads hand hints over and wait for the answer; nothing of Celery runs in the loop.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass

from messor.jobs.broker.hints import Hints
from messor.jobs.broker.options import Options
from messor.jobs.handlers import Handlers
from messor.jobs.runner import Runner, RunnerLimits
from messor.runtime.process_group import Component, ProcessGroup
from messor.settings import Settings
from messor.store.session import Session, open_session

POOL_SIZE = 10
JOIN_SECONDS = 30.0  # from being told to stop

NewLoop = Callable[[], asyncio.AbstractEventLoop]


@dataclass(frozen=True, slots=True)
class BrokerCrew:
    """What a process does: the job types it handles, and what runs beside them."""

    handlers: Handlers
    companions: Sequence[Component] = ()


Compose = Callable[[Session], BrokerCrew]


class EngineThread:
    """Start it, hand hints over from any thread, stop it."""

    def __init__(
        self,
        settings: Settings,
        compose: Compose,
        options: Options,
        *,
        limits: RunnerLimits,
        name: str,
        new_loop: NewLoop = asyncio.new_event_loop,
        connections: int = POOL_SIZE,
    ) -> None:
        self._settings = settings
        self._compose = compose
        self._options = options
        self._limits = limits
        self._name = name
        self._connections = connections
        self._hints: Future[Hints] = Future()
        self._ended: Future[bool] = Future()
        self._company: ProcessGroup | None = None
        self._is_stopped = False
        self._join_until: float | None = None
        self._loop = new_loop()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._main, name="engine", daemon=True)
        self.on_end: Callable[[], None] = lambda: None

    def start(self) -> list[str]:
        """Run until told to stop; answers the job types, once the database is there."""
        self._thread.start()
        return self._hints.result().job_types

    def hand_over(self, job_type: str) -> bool:
        """Follow a hint; False when another worker should."""
        hints = self._hints.result()
        if job_type not in hints.job_types:
            return True  # a type that is done nowhere here: its hint is worth nothing to anybody
        work = hints.take(job_type, self._options.place_seconds)
        try:
            taken = asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:  # the loop has ended
            work.close()
            return False
        # A loop that ends before its turn came would never answer.
        wait([taken, self._ended], return_when=FIRST_COMPLETED)
        if not taken.done():
            work.close()
            return False
        return not taken.cancelled() and taken.result()

    def set_hinted(self, is_hinted: bool) -> None:
        self._soon(lambda: self._hints.result().set_hinted(is_hinted))

    def stop(self) -> None:
        """Let what is under way finish; safe in a signal's handler, and more than once."""
        if self._join_until is None:
            self._join_until = time.monotonic() + JOIN_SECONDS
        self._soon(self._stop_all)

    def join(self) -> None:
        """Wait until it has ended, and raise what ended it."""
        until = self._join_until or time.monotonic() + JOIN_SECONDS
        self._thread.join(max(until - time.monotonic(), 0))
        if self._error is not None:
            raise self._error

    def _stop_all(self) -> None:
        self._is_stopped = True
        if self._company is not None:
            self._company.stop()

    def _main(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._work())
        except BaseException as error:  # noqa: BLE001 - raised again by whoever joins the thread
            self._error = error
            if not self._hints.done():
                self._hints.set_exception(error)
        finally:
            self._ended.set_result(True)
            self.on_end()

    async def _work(self) -> None:
        async with open_session(self._settings, pool_size=self._connections) as session:
            crew = self._compose(session)
            hints = Hints(crew.handlers.job_types, self._options)
            runner = Runner(
                session.database,
                crew.handlers,
                self._name,
                self._limits,
                seeker=hints,
                repair=session.repair,
            )
            self._company = ProcessGroup([runner, *crew.companions])
            self._hints.set_result(hints)
            if self._is_stopped:
                self._company.stop()
            await self._company.run()

    def _soon(self, function: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(function)
        except RuntimeError:  # it has ended
            return
