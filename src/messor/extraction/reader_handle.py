"""The parent's handle of one reader process: its pending requests, and the reason for its end.

Requests are sent at once, answers are passed to their waiters. A process that ends, or is killed
because it stalls, names the page responsible; `reader_pool` requeues the others.
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

LATE_SECONDS = 1.0  # a check that is later than this was delayed with the whole machine
START_SECONDS = 120.0  # for the first page to be started; a machine may be busy


@dataclass(frozen=True, slots=True)
class PendingRead:
    """A request without an answer yet."""

    frame: bytes
    answer: asyncio.Future[ReadResult]


class ReaderHandle(asyncio.SubprocessProtocol):
    """One reader process.

    `on_news` is called when it may have capacity again, `on_end` with the pending requests that did
    not cause its end.
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
        self._last_answer_at = 0.0  # when it last answered, or was asked while idle
        self._watch: asyncio.TimerHandle | None = None
        self._check_at = 0.0
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
        """Whether it accepts requests."""
        return self._fault is None

    def send(self, pending: PendingRead) -> None:
        if not self.on_hand:
            self._last_answer_at = time.monotonic()
        self.on_hand.append(pending)
        self._input.write(pending.frame)
        if self._watch is None:
            self._check_in(self._seconds)

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
        self._last_answer_at = time.monotonic()
        self._on_news()

    def _on_answer(self, answer: ReadResult) -> None:
        """Handle an answer to the first pending request."""
        self._answered += 1
        future = self.on_hand.popleft().answer
        if future.done():  # the caller is gone
            return
        if answer.fault is None:
            future.set_result(answer)
        else:
            future.set_exception(UnreadableError(answer.fault))

    def _check_in(self, seconds: float) -> None:
        self._check_at = time.monotonic() + seconds
        self._watch = self._loop.call_later(seconds, self._check_stall)

    def _check_stall(self) -> None:
        """Kill the process if the current page takes too long. One timer serves many pages."""
        self._watch = None
        if not self.on_hand:
            return
        if time.monotonic() - self._check_at > LATE_SECONDS:  # we were stopped: so was the reader
            self._last_answer_at = time.monotonic()
        has_begun = self._progress.begun > 0
        limit = self._seconds if has_begun else START_SECONDS
        left = max(self._progress.begun_at, self._last_answer_at) + limit - time.monotonic()
        if left > 0:
            self._check_in(min(left, self._seconds))
            return
        act = "Reading the page" if has_begun else "Starting a reader process"
        self._fault = f"{act} took more than {limit:g} s."
        self.end()

    def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    def connection_lost(self, exc: Exception | None) -> None:
        """The process has ended, and all its output was received."""
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
                fault = self._fault or "The reader process died while reading the page."
                answer.set_exception(UnreadableError(fault))
        self._on_end(self, left)

    def _culprit(self) -> int | None:
        """Return the index of the pending request that ended the process.

        A process that never started a page blames the first, or it would be restarted for ever; one
        that ended between two pages blames none.
        """
        begun = self._progress.begun
        if not self.on_hand or (0 < begun <= self._answered and self._fault is None):
            return None
        return max(0, begun - 1 - self._answered)
