"""The supervisor: keeps a number of processes of one command running.

A process that ends is restarted, after a delay that grows while it keeps ending soon. One whose
event loop hangs is killed, after it has logged where it hangs. On stop, the supervisor stops its
processes and allows them 30 seconds. What a killed process held becomes available when its leases
expire or another worker notices its death, so killing is always safe.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from asyncio.subprocess import Process
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from messor.core.heartbeat import Heartbeat
from messor.jobs.poller import wait
from messor.runtime.ends import MEGABYTE, resident_bytes
from messor.runtime.pulse import SHOW_STACKS, ProcessPulse

SIGNALS = {number.value: number.name for number in signal.Signals}


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """Delays and time limits."""

    first_pause_seconds: float = 1.0  # doubles each time
    longest_pause_seconds: float = 60.0
    proven_seconds: float = 60.0  # a process that lived this long resets the delay
    stop_seconds: float = 30.0
    poll_seconds: float = 2.0
    hang_seconds: float = 60.0  # without a pulse, not counting time in which it could not run

    def pause(self, failures: int) -> float:
        return min(self.first_pause_seconds * 2.0 ** (failures - 1), self.longest_pause_seconds)


async def _tell_nobody(_: str) -> None:
    """For a supervisor without a database."""


class Supervisor:
    """Starts the processes with a socket as standard input, which closes when the supervisor ends.

    Through it they send their pulse.
    """

    def __init__(
        self,
        command: Sequence[str],
        count: int,
        *,
        say: Callable[[str], None],
        ceiling_mb: int,
        policy: RestartPolicy | None = None,
        name: str = "Worker",
        pass_fds: Sequence[int] = (),
        on_hang: Callable[[str], Awaitable[None]] | None = None,
    ) -> None:
        self._command = command
        self._name = name
        self._pass_fds = pass_fds
        self._on_hang = on_hang or _tell_nobody
        self.heartbeat = Heartbeat()
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
            for number in range(self._count):
                group.create_task(self._keep_running(f"{self._name.lower()} {number + 1}"))

    async def _keep_running(self, activity: str) -> None:
        failures = 0
        clock = asyncio.get_running_loop().time
        while not self._stop.is_set():
            started = clock()
            ending = await self._run_one(activity)
            if self._stop.is_set():
                return
            is_proven = clock() - started >= self._policy.proven_seconds
            failures = 1 if is_proven else failures + 1
            pause = self._policy.pause(failures)
            self._say(f"{ending}; starting another in {pause:.0f} s.")
            await wait(self._stop, pause)

    async def _run_one(self, activity: str) -> str:
        """Run one process to its end; return how it ended, or why it did not start."""
        self.heartbeat.beat(activity)
        ours, theirs = None, None
        try:
            ours, theirs = socket.socketpair()
            # A session of its own: Ctrl-C in the terminal reaches only the supervisor, which then
            # stops the others.
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=theirs.fileno(),
                start_new_session=True,
                pass_fds=self._pass_fds,
            )
        except OSError as error:  # out of descriptors, processes or memory: temporary
            if ours is not None:
                ours.close()
            return f"A {self._name.lower()} could not be started ({error.strerror or error})"
        finally:
            if theirs is not None:
                theirs.close()
        self._processes.add(process)
        ended = asyncio.create_task(process.wait())
        pulse = ProcessPulse(process.pid, ours, self._policy.poll_seconds)
        try:
            while not ended.done() and not self._stop.is_set():
                self.heartbeat.beat(activity)
                await self._watch(process, ended, pulse)
            await self._end(process, ended)
        finally:
            self._processes.discard(process)
            pulse.close()  # on cancellation this ends it, too
        return _obituary(self._name, process.pid, await ended)

    async def _watch(self, process: Process, ended: asyncio.Task[int], pulse: ProcessPulse) -> None:
        """Wait until it ends, we are stopped, or its memory and its pulse are due for a check."""
        stopped = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait(
                [ended, stopped],
                timeout=self._policy.poll_seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            stopped.cancel()
        if ended.done() or self._stop.is_set():
            return
        if resident_bytes(process.pid) > self._hard_ceiling:
            self._say(f"{self._name} {process.pid} exceeds twice its memory limit and is killed.")
            _send(process, signal.SIGKILL)
            await ended
        elif pulse.silent_seconds() >= self._policy.hang_seconds:
            await self._kill_hanging(process, ended)

    async def _kill_hanging(self, process: Process, ended: asyncio.Task[int]) -> None:
        seconds = self._policy.hang_seconds
        message = f"{self._name} {process.pid} has not responded for {seconds:.0f} s and is killed."
        self._say(message)
        _send(process, SHOW_STACKS)
        await asyncio.wait([ended], timeout=self._policy.poll_seconds)
        _send(process, signal.SIGKILL)
        await ended
        await self._on_hang(message)

    async def _end(self, process: Process, ended: asyncio.Task[int]) -> None:
        if ended.done():
            return
        _send(process, signal.SIGTERM)
        await asyncio.wait([ended], timeout=self._policy.stop_seconds)
        if not ended.done():
            self._say(f"{self._name} {process.pid} did not end in time and is killed.")
            _send(process, signal.SIGKILL)
            await ended


def _send(process: Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(number)


def _obituary(name: str, pid: int, code: int) -> str:
    how = (
        f"was ended by {SIGNALS.get(-code, f'signal {-code}')}"
        if code < 0
        else f"ended with code {code}"
    )
    return f"{name} {pid} {how}"
