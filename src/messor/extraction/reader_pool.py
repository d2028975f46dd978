"""The reader pool: processes that parse archived pages outside the event loop.

Each has several pending pages, so that it never idles, and reads them in sequence. It may die or
stall on a page: only that page is blamed, and its other pending pages go to the next process.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections import deque
from collections.abc import Iterable, Sequence
from tempfile import TemporaryFile

from messor.ai.questions import KINDS
from messor.errors import UsageError
from messor.extraction.reader_handle import PendingRead, ReaderHandle
from messor.extraction.reader_protocol import (
    ReaderProgress,
    ReadRequest,
    ReadResult,
    UnreadableError,
    framed,
)
from messor.parsers.page_findings import FoundPage
from messor.parsers.page_reading import installed_parsers

SECONDS = 20.0  # per page
MEMORY = 2 * 1024 * 1024 * 1024  # address space, not resident memory
ON_HAND = 32  # pending pages per process, including answers not sent yet


class ReaderPool:
    """As many reader processes as cores, started on demand."""

    def __init__(
        self, count: int | None = None, *, seconds: float = SECONDS, memory: int = MEMORY
    ) -> None:
        installed_parsers()  # a parser that cannot be loaded fails here, not at the end of each process
        self.count = count or _cores()
        self._seconds = seconds
        self._memory = memory
        self._children: list[ReaderHandle] = []
        self._starting: set[asyncio.Task[None]] = set()
        self._waiting: deque[PendingRead] = deque()
        self._is_closed = False

    @property
    def pids(self) -> list[int]:
        """The process ids of running readers."""
        return [child.pid for child in self._children if child.on_hand]

    def ask(self, requests: Iterable[ReadRequest]) -> list[asyncio.Future[ReadResult]]:
        """Queue requests; each future resolves to its answer, or raises UnreadableError with the
        reason.
        """
        new_future = asyncio.get_running_loop().create_future
        pending = [PendingRead(framed(request), new_future()) for request in requests]
        self._waiting += pending
        self._dispatch()
        self._start()
        return [each.answer for each in pending]

    async def answer(self, request: ReadRequest) -> ReadResult:
        """Return the answer to a request; raises UnreadableError with the reason."""
        (answer,) = self.ask([request])
        return await answer

    async def read(self, request: ReadRequest) -> FoundPage:
        """Return the results of a page; raises UnreadableError with the reason."""
        answer = await self.answer(request)
        assert answer.page is not None
        return answer.page

    async def close(self) -> None:
        """End all processes; no request may be pending."""
        self._is_closed = True
        for pending in self._waiting:
            pending.answer.cancel()
        await asyncio.gather(*self._starting)
        children = list(self._children)
        for child in children:
            child.end()
        for child in children:
            await child.ended.wait()

    def _dispatch(self) -> None:
        """Dispatch waiting requests to the least loaded processes."""
        while self._waiting and not self._is_closed:
            well = [child for child in self._children if child.is_well]
            child = min(well, key=_load, default=None)
            if child is None or _load(child) >= ON_HAND:
                break
            pending = self._waiting.popleft()
            if not pending.answer.done():
                child.send(pending)

    def _start(self) -> None:
        """Start processes until there is one per request, up to the maximum."""
        requests = len(self._waiting) + sum(map(_load, self._children))
        there = len(self._children) + len(self._starting)
        for _ in range(min(self.count, requests) - there if not self._is_closed else 0):
            starting = asyncio.get_running_loop().create_task(self._begin())
            self._starting.add(starting)
            starting.add_done_callback(self._starting.discard)

    async def _begin(self) -> None:
        try:
            child = await self._started()
        except OSError as error:
            self._fail_waiting(error)
            return
        if child.ended.is_set():
            self._fail_waiting(UnreadableError("The reader process ended at startup."))
            return
        self._children.append(child)
        self._dispatch()

    async def _started(self) -> ReaderHandle:
        with TemporaryFile() as file:
            file.truncate(ReaderProgress.SIZE)
            shared, progress = file.fileno(), ReaderProgress(file.fileno())
            _, child = await asyncio.get_running_loop().subprocess_exec(
                lambda: ReaderHandle(
                    progress, self._seconds, on_news=self._dispatch, on_end=self._on_exit
                ),
                *(
                    sys.executable,
                    "-m",
                    "messor.extraction.reader_process",
                    str(self._memory),
                    str(shared),
                ),
                stderr=None,
                pass_fds=(shared,),
            )
        return child

    def _fail_waiting(self, error: Exception) -> None:
        """Fail the waiting requests: no process can be started; running ones continue."""
        while self._waiting and not self._children:
            pending = self._waiting.popleft()
            if not pending.answer.done():
                pending.answer.set_exception(error)

    def _on_exit(self, child: ReaderHandle, left: Sequence[PendingRead]) -> None:
        """Requeue the blameless pending requests of a process that has ended, first in line."""
        if child in self._children:
            self._children.remove(child)
        self._waiting.extendleft(reversed(left))
        self._dispatch()
        self._start()


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def _load(child: ReaderHandle) -> int:
    return len(child.on_hand)


def wanted_kinds(names: Sequence[str]) -> frozenset[str] | None:
    """Return the record kinds to read by name; None for all, if none is given."""
    if not names:
        return None
    known = {kind for parser in installed_parsers() for kind in parser.kinds} | set(KINDS)
    for name in names:
        if name not in known:
            have = ", ".join(sorted(known))
            raise UsageError(
                f"MESSOR_RECORD_KINDS: unknown record kind {name[:60]!r}; available: {have}."
            )
    return frozenset(names)
