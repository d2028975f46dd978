"""The process's engine in a thread of its own: one event loop with the runner, the relay and more.

Celery's threads hand hints over and wait for the answer; nothing of Celery runs in the loop.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from typing import Any, Protocol

from messor.queue.broker.hinted_runner import HintedRunner
from messor.queue.broker.options import Options
from messor.queue.broker.publisher import Publisher
from messor.queue.broker.relay import Relay
from messor.queue.handlers import Handlers
from messor.queue.runner import Limits
from messor.settings import Settings
from messor.store.session import Session, open_session

POOL_SIZE = 8
STOP_SECONDS = 30.0


class Companion(Protocol):
    """What else runs in the loop, such as the worker that harvests lanes."""

    def stop(self) -> None: ...
    async def run(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Crew:
    """What a process does: the job types it handles, and what runs beside them."""

    handlers: Handlers
    companions: Sequence[Companion] = ()


Compose = Callable[[Session], Crew]


class EngineThread:
    """Start it, hand hints over from any thread, stop it."""

    def __init__(
        self,
        settings: Settings,
        compose: Compose,
        options: Options,
        *,
        limits: Limits,
        publisher: Publisher,
        name: str,
    ) -> None:
        self._settings = settings
        self._compose = compose
        self._options = options
        self._limits = limits
        self._publisher = publisher
        self._name = name
        self._runner: Future[HintedRunner] = Future()
        self._members: list[Companion] = []
        self._loop = asyncio.new_event_loop()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._main, name="engine", daemon=True)
        self.on_end: Callable[[], None] = lambda: None

    def start(self) -> list[str]:
        """Run until told to stop; answers the job types, once the database is there."""
        self._thread.start()
        return self._runner.result().job_types

    def hand_over(self, job_type: str) -> bool:
        """Follow a hint; False when another worker should."""
        runner = self._runner.result()
        if job_type not in runner.job_types:
            return True  # a type that is done nowhere here: its hint is worth nothing to anybody
        try:
            return self._call(runner.take(job_type, self._options.place_seconds)).result()
        except (RuntimeError, CancelledError):  # the loop ended meanwhile
            return False

    def set_hinted(self, is_hinted: bool) -> None:
        self._soon(lambda: self._runner.result().set_hinted(is_hinted))

    def stop(self) -> None:
        """Let what is under way finish; safe in a signal's handler, and more than once."""
        self._soon(self._stop_all)

    def join(self) -> None:
        """Wait until it has ended, and raise what ended it."""
        self._thread.join(STOP_SECONDS)
        if self._error is not None:
            raise self._error

    def _stop_all(self) -> None:
        for member in self._members:
            member.stop()

    def _main(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._work())
        except BaseException as error:  # noqa: BLE001 - raised again by whoever joins the thread
            self._error = error
            if not self._runner.done():
                self._runner.set_exception(error)
        finally:
            self.on_end()

    async def _work(self) -> None:
        async with open_session(self._settings, pool_size=POOL_SIZE) as session:
            crew = self._compose(session)
            runner = HintedRunner(
                session.database,
                crew.handlers,
                self._name,
                self._limits,
                self._options,
                repair=session.repair,
            )
            relay = Relay(
                session.database,
                self._publisher,
                self._name,
                runner.job_types,
                self._options,
                repair=session.repair,
            )
            self._members = [runner, relay, *crew.companions]
            self._runner.set_result(runner)
            await self._run_all()

    async def _run_all(self) -> None:
        """When one ends, in whatever way, the others are asked to."""
        tasks = [asyncio.create_task(member.run()) for member in self._members]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        self._stop_all()
        await asyncio.gather(*tasks)

    def _call(self, work: Coroutine[Any, Any, bool]) -> Future[bool]:
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:
            work.close()
            raise

    def _soon(self, function: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(function)
        except RuntimeError:  # it has ended
            return
