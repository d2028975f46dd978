"""The process's engine in its own thread: one event loop with the job runner and its components.

Celery's threads hand hints over and wait for the result; nothing of Celery runs in the loop.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field

from messor.core.metrics import Metrics
from messor.jobs.broker.hints import Hints
from messor.jobs.broker.options import Options
from messor.jobs.handlers import Handlers
from messor.jobs.runner import Runner, RunnerLimits
from messor.runtime.process_group import Component, ProcessGroup
from messor.runtime.stall import StallWatch
from messor.settings import Settings
from messor.store.session import Session, open_session

POOL_SIZE = 10
JOIN_SECONDS = 30.0  # after a request to stop

NewLoop = Callable[[], asyncio.AbstractEventLoop]


@dataclass(frozen=True, slots=True)
class EngineSetup:
    """What a process does: the job types it handles, and the components beside them."""

    handlers: Handlers
    components: Sequence[Component] = ()
    metrics: Metrics = field(default_factory=Metrics)


Compose = Callable[[Session], EngineSetup]


class EngineThread:
    """Runs the engine; hints may be handed over from any thread."""

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
        self._process_group: ProcessGroup | None = None
        self._is_stopped = False
        self._join_until: float | None = None
        self._loop = new_loop()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._main, name="engine", daemon=True)
        self.on_end: Callable[[], None] = lambda: None

    def start(self) -> list[str]:
        """Run until stopped; return the job types once the database is available."""
        self._thread.start()
        return self._hints.result().job_types

    def hand_over(self, job_type: str) -> bool:
        """Follow a hint; return False if another worker should."""
        hints = self._hints.result()
        if job_type not in hints.job_types:
            return True  # no handler for this type here: the hint is useless to others, too
        work = hints.take(job_type, self._options.place_seconds)
        try:
            taken = asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:  # the loop has ended
            work.close()
            return False
        # A loop that ends before the callback runs would never return a result.
        wait([taken, self._ended], return_when=FIRST_COMPLETED)
        if not taken.done():
            work.close()
            return False
        return not taken.cancelled() and taken.result()

    def set_hinted(self, is_hinted: bool) -> None:
        self._soon(lambda: self._hints.result().set_hinted(is_hinted))

    def stop(self) -> None:
        """Finish the work in progress; safe in a signal handler, and repeatedly."""
        if self._join_until is None:
            self._join_until = time.monotonic() + JOIN_SECONDS
        self._soon(self._stop_all)

    def join(self) -> None:
        """Wait until the thread has ended, and raise what ended it."""
        until = self._join_until or time.monotonic() + JOIN_SECONDS
        self._thread.join(max(until - time.monotonic(), 0))
        if self._error is not None:
            raise self._error

    def _stop_all(self) -> None:
        self._is_stopped = True
        if self._process_group is not None:
            self._process_group.stop()

    def _main(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._work())
        except BaseException as error:  # noqa: BLE001 - re-raised by whoever joins the thread
            self._error = error
            if not self._hints.done():
                self._hints.set_exception(error)
        finally:
            self._ended.set_result(True)
            self.on_end()

    async def _work(self) -> None:
        async with open_session(self._settings, pool_size=self._connections) as session:
            setup = self._compose(session)
            hints = Hints(setup.handlers.job_types, self._options)
            runner = Runner(
                session.database,
                setup.handlers,
                self._name,
                self._limits,
                job_source=hints,
                repair=session.repair,
                metrics=setup.metrics,
            )
            watch = StallWatch("The job runner", runner.heartbeat, session.database.responds)
            self._process_group = ProcessGroup([runner, watch, *setup.components])
            self._hints.set_result(hints)
            if self._is_stopped:
                self._process_group.stop()
            await self._process_group.run()

    def _soon(self, function: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(function)
        except RuntimeError:  # the thread has ended
            return
