"""The supervisor: keeps a number of processes of one command running.

A process that ends is restarted, after a delay that grows while it keeps ending soon. On stop, the
supervisor stops its processes and allows them 30 seconds. What a killed process held becomes
available when its leases expire, so killing is always safe.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from messor.jobs.poller import wait
from messor.runtime.stopping import MEGABYTE, resident_bytes

SIGNALS = {number.value: number.name for number in signal.Signals}


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """Delays and time limits."""

    first_pause_seconds: float = 1.0  # doubles each time
    longest_pause_seconds: float = 60.0
    proven_seconds: float = 60.0  # a process that lived this long resets the delay
    stop_seconds: float = 30.0
    poll_seconds: float = 2.0

    def pause(self, failures: int) -> float:
        return min(self.first_pause_seconds * 2.0 ** (failures - 1), self.longest_pause_seconds)


class Supervisor:
    """Starts the processes with a pipe as standard input, which closes when the supervisor ends."""

    def __init__(
        self,
        command: Sequence[str],
        count: int,
        *,
        say: Callable[[str], None],
        ceiling_mb: int,
        policy: RestartPolicy | None = None,
    ) -> None:
        self._command = command
        self._count = count
        self._stop = asyncio.Event()
        self._say = say
        self._hard_ceiling = 2 * ceiling_mb * MEGABYTE
        self._policy = policy or RestartPolicy()
        self._processes: set[Process] = set()

    @property
    def pids(self) -> list[int]:
        return sorted(process.pid for process in self._processes)

    def stop(self) -> None:
        """Stop all processes, and return from `run`."""
        self._stop.set()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(self._count):
                group.create_task(self._keep_running())

    async def _keep_running(self) -> None:
        failures = 0
        clock = asyncio.get_running_loop().time
        while not self._stop.is_set():
            started = clock()
            ending = await self._run_one()
            if self._stop.is_set():
                return
            is_proven = clock() - started >= self._policy.proven_seconds
            failures = 1 if is_proven else failures + 1
            pause = self._policy.pause(failures)
            self._say(f"{ending}; starting another in {pause:.0f} s.")
            await wait(self._stop, pause)

    async def _run_one(self) -> str:
        """Run one process to its end; return how it ended, or why it did not start."""
        # A session of its own: Ctrl-C in the terminal reaches only the supervisor, which then
        # stops the others.
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command, stdin=PIPE, start_new_session=True
            )
        except OSError as error:  # out of descriptors, processes or memory: temporary
            return f"A worker could not be started ({error.strerror or error})"
        self._processes.add(process)
        ended = asyncio.create_task(process.wait())
        try:
            while not ended.done() and not self._stop.is_set():
                await self._watch(process, ended)
            await self._end(process, ended)
        finally:
            self._processes.discard(process)
            if process.stdin is not None:
                process.stdin.close()  # on cancellation this ends it, too
        return _obituary(process.pid, await ended)

    async def _watch(self, process: Process, ended: asyncio.Task[int]) -> None:
        """Wait until it ends, we are stopped, or its memory is due for a check."""
        stopped = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait(
                [ended, stopped],
                timeout=self._policy.poll_seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            stopped.cancel()
        if not ended.done() and resident_bytes(process.pid) > self._hard_ceiling:
            self._say(f"Worker {process.pid} exceeds twice its memory limit and is killed.")
            _send(process, signal.SIGKILL)
            await ended

    async def _end(self, process: Process, ended: asyncio.Task[int]) -> None:
        if ended.done():
            return
        _send(process, signal.SIGTERM)
        await asyncio.wait([ended], timeout=self._policy.stop_seconds)
        if not ended.done():
            self._say(f"Worker {process.pid} did not end in time and is killed.")
            _send(process, signal.SIGKILL)
            await ended


def _send(process: Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(number)


def _obituary(pid: int, code: int) -> str:
    how = (
        f"was ended by {SIGNALS.get(-code, f'signal {-code}')}"
        if code < 0
        else f"ended with code {code}"
    )
    return f"Worker {pid} {how}"
