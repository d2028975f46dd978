"""Readers: processes that read archived pages for their content, so that the loop need not.

Each has several pages on hand, so that it never waits for the next one, and reads them one after
another. It may die or stall over a page: only that page is blamed, and the others that it had on
hand go to the next process. What comes of a page is left to whoever asked.
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

SECONDS = 20.0  # for one page
MEMORY = 2 * 1024 * 1024 * 1024  # of addresses, not of pages in use
ON_HAND = 32  # pages of one process, those included whose answers it has not sent yet


class ReaderPool:
    """As many reading processes as there are cores, started when they are needed."""

    def __init__(
        self, count: int | None = None, *, seconds: float = SECONDS, memory: int = MEMORY
    ) -> None:
        installed_parsers()  # one that cannot be loaded is told here, not by each process's end
        self.count = count or len(os.sched_getaffinity(0))
        self._seconds = seconds
        self._memory = memory
        self._children: list[ReaderHandle] = []
        self._starting: set[asyncio.Task[None]] = set()
        self._waiting: deque[PendingRead] = deque()
        self._is_closed = False

    @property
    def pids(self) -> list[int]:
        """Of the processes that are reading just now."""
        return [child.pid for child in self._children if child.on_hand]

    def ask(self, orders: Iterable[ReadRequest]) -> list[asyncio.Future[ReadResult]]:
        """Have pages read; each answer is had when it comes, or UnreadableError says why not."""
        new_future = asyncio.get_running_loop().create_future
        asked = [PendingRead(framed(order), new_future()) for order in orders]
        self._waiting += asked
        self._dispatch()
        self._start()
        return [each.answer for each in asked]

    async def answer(self, order: ReadRequest) -> ReadResult:
        """What an order asks for; UnreadableError says why it cannot be had."""
        (answer,) = self.ask([order])
        return await answer

    async def read(self, order: ReadRequest) -> FoundPage:
        """What is made of a page; UnreadableError says why nothing could be."""
        answer = await self.answer(order)
        assert answer.page is not None
        return answer.page

    async def close(self) -> None:
        """End all processes; nothing may be under way."""
        self._is_closed = True
        for asked in self._waiting:
            asked.answer.cancel()
        await asyncio.gather(*self._starting)
        children = list(self._children)
        for child in children:
            child.end()
        for child in children:
            await child.ended.wait()

    def _dispatch(self) -> None:
        """Give waiting orders to those who have least to do."""
        while self._waiting and not self._is_closed:
            well = [child for child in self._children if child.is_well]
            child = min(well, key=_load, default=None)
            if child is None or _load(child) >= ON_HAND:
                break
            asked = self._waiting.popleft()
            if not asked.answer.done():
                child.send(asked)

    def _start(self) -> None:
        """Start processes until there is one for each order, or as many as there may be."""
        orders = len(self._waiting) + sum(map(_load, self._children))
        there = len(self._children) + len(self._starting)
        for _ in range(min(self.count, orders) - there if not self._is_closed else 0):
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
            self._fail_waiting(UnreadableError("The reading process ended at its start."))
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
        """No process can be had; those that are there go on."""
        while self._waiting and not self._children:
            asked = self._waiting.popleft()
            if not asked.answer.done():
                asked.answer.set_exception(error)

    def _on_exit(self, child: ReaderHandle, left: Sequence[PendingRead]) -> None:
        """A process has ended; what it had on hand and is not to blame comes first again."""
        if child in self._children:
            self._children.remove(child)
        self._waiting.extendleft(reversed(left))
        self._dispatch()
        self._start()


def _load(child: ReaderHandle) -> int:
    return len(child.on_hand)


def wanted_kinds(names: Sequence[str]) -> frozenset[str] | None:
    """The kinds of records that are to be read, by their names; None for all, when none is named."""
    if not names:
        return None
    known = {kind for parser in installed_parsers() for kind in parser.kinds} | set(KINDS)
    for name in names:
        if name not in known:
            have = ", ".join(sorted(known))
            raise UsageError(
                f"MESSOR_RECORD_KINDS: no kind of records is called {name[:60]!r}; there are {have}."
            )
    return frozenset(names)
