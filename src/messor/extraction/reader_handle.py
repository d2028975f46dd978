"""One reading process as seen by whoever asks it: what it has on hand, and what ended it.

Orders go out as they are given, answers are handed to whoever waits for them. A process that ends, or
is ended because it stalls, names the page that did it; where the others go is left to `readers`.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from messor.extraction.reader_protocol import (
    HEAD,
    ReaderProgress,
    ReadResult,
    UnreadableError,
    decode_answer,
)

START_SECONDS = 120.0  # for the first page to be begun; a machine may be busy


@dataclass(frozen=True, slots=True)
class PendingRead:
    """An order that was not answered yet."""

    frame: bytes
    answer: asyncio.Future[ReadResult]


class ReaderHandle(asyncio.SubprocessProtocol):
    """One reading process.

    `on_news` is called when it may have room again, `on_end` with what it had on hand and is not to
    blame for its end.
    """

    def __init__(
        self,
        progress: ReaderProgress,
        seconds: float,
        *,
        on_news: Callable[[], None],
        on_end: Callable[[ReaderHandle, Sequence[PendingRead]], None],
    ) -> None:
        self._on_news = on_news
        self._on_end = on_end
        self._progress = progress
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._received = bytearray()
        self._answered = 0
        self._heard_at = 0.0  # when it last answered, or was asked while it had nothing to do
        self._watch: asyncio.TimerHandle | None = None
        self._fault: str | None = None
        self.on_hand: deque[PendingRead] = deque()
        self.ended = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._process = cast(asyncio.SubprocessTransport, transport)
        self._input = cast(asyncio.WriteTransport, self._process.get_pipe_transport(0))

    @property
    def pid(self) -> int:
        return self._process.get_pid()

    @property
    def is_well(self) -> bool:
        """Whether it may be given anything."""
        return self._fault is None

    def send(self, asked: PendingRead) -> None:
        if not self.on_hand:
            self._heard_at = time.monotonic()
        self.on_hand.append(asked)
        self._input.write(asked.frame)
        if self._watch is None:
            self._watch = self._loop.call_later(self._seconds, self._check_stall)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        del fd
        if self._fault is not None:
            return
        received = self._received
        received += data
        while len(received) >= HEAD:
            end = HEAD + int.from_bytes(received[:HEAD], "big")
            if len(received) < end:
                break
            self._on_answer(decode_answer(bytes(received[HEAD:end])))
            del received[:end]
        self._heard_at = time.monotonic()
        self._on_news()

    def _on_answer(self, answer: ReadResult) -> None:
        """An answer to the first of those on hand."""
        self._answered += 1
        future = self.on_hand.popleft().answer
        if future.done():  # whoever asked has gone
            return
        if answer.fault is None:
            future.set_result(answer)
        else:
            future.set_exception(UnreadableError(answer.fault))

    def _check_stall(self) -> None:
        """Whether the page that is read now takes too long. One timer serves many pages."""
        self._watch = None
        if not self.on_hand:
            return
        has_begun = self._progress.begun > 0
        most = self._seconds if has_begun else START_SECONDS
        left = max(self._progress.begun_at, self._heard_at) + most - time.monotonic()
        if left > 0:
            self._watch = self._loop.call_later(min(left, self._seconds), self._check_stall)
            return
        act = "Reading the page" if has_begun else "Starting a process to read the page"
        self._fault = f"{act} takes over {most:g} s."
        self.end()

    def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    def connection_lost(self, exc: Exception | None) -> None:
        """The process is gone, and all that it said was heard."""
        del exc
        if self._watch is not None:
            self._watch.cancel()
        self._process.close()
        self.ended.set()
        left = list(self.on_hand)
        culprit = self._culprit()
        if culprit is not None:
            answer = left.pop(culprit).answer
            if not answer.done():
                fault = self._fault or "Reading the page ended its process."
                answer.set_exception(UnreadableError(fault))
        self._on_end(self, left)

    def _culprit(self) -> int | None:
        """Whose reading ended the process: its place among those on hand.

        One that never began anything has the first of them to answer for, or it would be started
        for ever; one that ended between two pages has none.
        """
        begun = self._progress.begun
        if not self.on_hand or (0 < begun <= self._answered and self._fault is None):
            return None
        return max(0, begun - 1 - self._answered)
