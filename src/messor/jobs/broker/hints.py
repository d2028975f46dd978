"""A job source that claims on a broker's hints, and polls only when none can come.

A hint represents one job of its type, whichever is most urgent, so neither its identity nor its
order matters. Hints that arrive during a claim become one claim.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Sequence

from messor.core.heartbeat import Heartbeat
from messor.jobs.broker.options import Options
from messor.jobs.poller import CLAIMING, wait
from messor.jobs.slots import JobSlots

AGAIN_SECONDS = 0.5

HintRequest = tuple[str, "asyncio.Future[bool]"]


class Hints:
    """`counts` says how many jobs were claimed for hints and how many were found by polling."""

    def __init__(self, job_types: Sequence[str], options: Options) -> None:
        self.job_types = list(job_types)
        self.counts: Counter[str] = Counter()
        self._options = options
        self._pending: list[HintRequest] = []
        self._wake = asyncio.Event()
        self._is_stopped = False
        self._is_hinted = False
        self._poll_at = 0.0

    def stop(self) -> None:
        self._is_stopped = True
        self._wake.set()

    def note_free(self, slots: JobSlots) -> None:  # noqa: ARG002 - any free slot will do
        self._wake.set()

    def set_hinted(self, is_hinted: bool) -> None:
        """Set whether the broker is available; if not, poll at once."""
        self._is_hinted = is_hinted
        now = asyncio.get_running_loop().time()
        self._poll_at = now + self._poll_seconds if is_hinted else now
        self._wake.set()

    async def take(self, job_type: str, seconds: float) -> bool:
        """Wait for a free slot, and claim the most urgent job of a type, if there is one.

        Returns False if the hint should go to another worker.
        """
        if self._is_stopped:
            return False
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._pending.append((job_type, answer))
        self._wake.set()
        try:
            async with asyncio.timeout(seconds):
                return await answer
        except TimeoutError:
            return False

    async def fill(self, slots: JobSlots, heartbeat: Heartbeat) -> None:
        while not self._is_stopped:
            heartbeat.beat(CLAIMING)
            self._wake.clear()
            if free := slots.free:
                await self._follow(slots, self._next_pending(free))
            await self._poll(slots)
            await self._wait()
        for _, answer in self._pending:
            _settle(answer, False)

    def _next_pending(self, limit: int) -> list[HintRequest]:
        """The hints to follow now, oldest first; those that gave up are dropped."""
        pending = [request for request in self._pending if not request[1].done()]
        self._pending = pending[limit:]
        return pending[:limit]

    async def _follow(self, slots: JobSlots, pending: Sequence[HintRequest]) -> None:
        """Claim as many jobs of each type as there are hints for it."""
        by_type: dict[str, list[asyncio.Future[bool]]] = defaultdict(list)
        for job_type, answer in pending:
            by_type[job_type].append(answer)
        for job_type, answers in by_type.items():
            claimed = await self._claim(slots, [job_type], len(answers))
            self.counts["hinted"] += claimed or 0
            for answer in answers:
                _settle(answer, claimed is not None)

    async def _poll(self, slots: JobSlots) -> None:
        """Poll without a hint, when it is time to."""
        now = asyncio.get_running_loop().time()
        free = slots.free
        if now < self._poll_at or not free or self._is_stopped:
            return
        claimed = await self._claim(slots, self.job_types, free)
        self.counts["found"] += claimed or 0
        if claimed != free or self._is_hinted:
            self._poll_at = now + self._poll_seconds

    async def _claim(self, slots: JobSlots, job_types: Sequence[str], limit: int) -> int | None:
        claimed = await slots.claim(job_types, limit)
        if claimed is None:
            await asyncio.sleep(AGAIN_SECONDS)
        return claimed

    @property
    def _poll_seconds(self) -> float:
        options = self._options
        return options.hinted_look_seconds if self._is_hinted else options.away_look_seconds

    async def _wait(self) -> None:
        """Wait until a hint comes, a slot becomes free, or it is time to poll."""
        seconds = max(0.0, self._poll_at - asyncio.get_running_loop().time())
        await wait(self._wake, seconds or self._poll_seconds)


def _settle(answer: asyncio.Future[bool], is_taken: bool) -> None:
    if not answer.done():
        answer.set_result(is_taken)
