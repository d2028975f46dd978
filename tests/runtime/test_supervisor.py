"""The supervisor of real processes: those that die, hang, grow, and those whose supervisor dies."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from messor.runtime import pulse
from messor.runtime.pulse import ProcessPulse
from messor.runtime.supervisor import RestartPolicy, Supervisor
from tests.crawling import until

LONG = 60.0
PATIENCE = RestartPolicy(
    first_pause_seconds=0.01, stop_seconds=LONG, poll_seconds=0.05, hang_seconds=0.5
)
IMPATIENCE = replace(PATIENCE, stop_seconds=0.5)

# Each leaves a file with its number when it is up; `end` says how it goes on.
PROCESS = """
import os, pathlib, signal, sys, time
folder, end = pathlib.Path(sys.argv[1]), sys.argv[2]
if end == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
else:
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
hoard = b"x" * 100_000_000 if end == "grow" else b""
(folder / str(os.getpid())).touch()
if end == "die":
    os.kill(os.getpid(), signal.SIGSEGV)
if end == "fail":
    sys.exit(3)
sys.stdin.read()
"""

# A process with an event loop and a pulse; told by a file, the loop hangs.
ALIVE = """
import asyncio, pathlib, re, sys, time, os
from messor.runtime.process_group import ProcessGroup
from messor.runtime.pulse import Pulse
from messor.runtime.ends import Lifeline, stopping_on_signals

class Work:
    def stop(self):
        self.is_stopped = True

    async def run(self):
        folder, self.is_stopped = pathlib.Path(sys.argv[1]), False
        (folder / str(os.getpid())).touch()
        while not self.is_stopped:
            await asyncio.sleep(0.01)
            if (folder / f"hang-{os.getpid()}").exists():
                getattr(self, sys.argv[2])()

    def sleep(self):
        time.sleep(3600)

    def spin(self):
        re.match("(a*)*b", "a" * 60)  # holds the interpreter's lock

async def main():
    group = ProcessGroup([Lifeline(), Pulse(beat_seconds=0.02), Work()])
    async with stopping_on_signals(group):
        await group.run()

asyncio.run(main())
"""

SUPERVISOR = """
import asyncio, sys
from messor.runtime.supervisor import Supervisor
command = [sys.executable, "-c", sys.argv[2], sys.argv[1], "stay"]
asyncio.run(Supervisor(command, 2, say=print, ceiling_mb=1000).run())
"""


class Watched:
    """A supervisor at work, and what it and its processes did."""

    def __init__(self, folder: Path, end: str, count: int, ceiling_mb: int) -> None:
        self.said: list[str] = []
        self._folder = folder
        program = ALIVE if end in ("sleep", "spin") else PROCESS
        command = [sys.executable, "-c", program, str(folder), end]
        policy = IMPATIENCE if end == "deaf" else PATIENCE
        self.told: list[str] = []
        self.supervisor = Supervisor(
            command, count, say=self.said.append, ceiling_mb=ceiling_mb, policy=policy,
            on_hang=self._tell,
        )  # fmt: skip
        self.running = asyncio.create_task(self.supervisor.run())

    async def _tell(self, message: str) -> None:
        self.told.append(message)

    @property
    def started(self) -> set[int]:
        return {int(path.name) for path in self._folder.iterdir() if path.name.isdigit()}

    def hang(self, pid: int) -> None:
        (self._folder / f"hang-{pid}").touch()

    async def stop(self) -> None:
        self.supervisor.stop()
        await asyncio.wait_for(self.running, 2 * LONG)


Watch = Callable[..., Watched]


@pytest.fixture
async def watch(tmp_path: Path) -> AsyncIterator[Watch]:
    async with AsyncExitStack() as ending:

        def start(end: str, count: int = 1, ceiling_mb: int = 1000) -> Watched:
            watched = Watched(tmp_path, end, count, ceiling_mb)
            ending.push_async_callback(watched.stop)
            return watched

        yield start


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_as_many_as_wanted_run_and_stop_together(watch: Watch) -> None:
    watched = watch("stay", count=3)
    await until(lambda: len(watched.started) == 3)
    assert set(watched.supervisor.pids) == watched.started
    await watched.stop()
    assert not any(is_alive(pid) for pid in watched.started)
    assert watched.said == []


async def test_one_that_was_killed_is_replaced_and_the_others_stay(watch: Watch) -> None:
    watched = watch("stay", count=2)
    await until(lambda: len(watched.started) == 2)
    doomed, other = watched.supervisor.pids
    os.kill(doomed, signal.SIGKILL)
    await until(lambda: len(watched.started) == 3)
    assert other in watched.supervisor.pids
    assert watched.said == [f"Worker {doomed} was ended by SIGKILL; starting another in 0 s."]


@pytest.mark.parametrize(
    "end, how", [("die", "was ended by SIGSEGV"), ("fail", "ended with code 3")]
)
async def test_one_that_keeps_ending_is_started_again(watch: Watch, end: str, how: str) -> None:
    watched = watch(end)
    await until(lambda: len(watched.said) >= 3)
    assert all(how in line for line in watched.said)
    assert len(watched.started) >= 3


def test_the_pause_grows_to_a_limit() -> None:
    policy = RestartPolicy()
    pauses = [policy.pause(failures) for failures in (1, 2, 3, 7, 100)]
    assert pauses == [1.0, 2.0, 4.0, 60.0, 60.0]


async def test_one_that_does_not_stop_is_killed(watch: Watch) -> None:
    watched = watch("deaf")
    await until(lambda: len(watched.started) == 1)
    await watched.stop()
    assert "did not end in time and is killed" in watched.said[0]


async def test_one_at_twice_its_ceiling_is_killed(watch: Watch) -> None:
    watched = watch("grow", ceiling_mb=30)

    await until(lambda: len(watched.said) >= 4)
    assert ["exceeds twice its memory limit" in line for line in watched.said[:4:2]] == [True, True]
    assert ["was ended by SIGKILL" in line for line in watched.said[1:4:2]] == [True, True]


@pytest.mark.parametrize("how", ["sleep", "spin"])
async def test_one_whose_loop_hangs_is_replaced_and_the_others_stay(
    watch: Watch, how: str, capfd: pytest.CaptureFixture[str]
) -> None:
    watched = watch(how, count=2)
    await until(lambda: len(watched.started) == 2)
    hanging, other = watched.supervisor.pids
    watched.hang(hanging)
    await until(lambda: len(watched.started) == 3, LONG)
    assert watched.told == [f"Worker {hanging} has not responded for 0 s and is killed."]
    assert watched.said[0] == watched.told[0]
    assert "was ended by SIGKILL" in watched.said[1]
    assert other in watched.supervisor.pids
    assert f"in {how}" in capfd.readouterr().err  # where it hung


async def test_one_that_somebody_stopped_does_not_hang(watch: Watch) -> None:
    """As a debugger does, or a machine that is suspended: it goes on where it was."""
    watched = watch("sleep", count=2)
    await until(lambda: len(watched.started) == 2)
    stopped, hanging = watched.supervisor.pids
    os.kill(stopped, signal.SIGSTOP)
    watched.hang(hanging)  # the measure of time: by now the other would be gone as well
    await until(lambda: len(watched.started) == 3, LONG)
    assert stopped in watched.supervisor.pids
    os.kill(stopped, signal.SIGCONT)
    rounds = len(watched.said)
    await watched.stop()
    assert len(watched.said) == rounds


def test_a_process_that_gets_no_processor_does_not_hang(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours, theirs = socket.socketpair()
    states = [("R", 0.0), ("R", 0.1), ("D", 0.1), ("T", 0.1), ("S", 0.1), ("R", 9.0)]
    monkeypatch.setattr(pulse, "_activity", lambda _: pulse._Activity(*states.pop(0)))
    with ours, theirs:
        heard = ProcessPulse(1, ours, 2.0)
        theirs.send(b".")
        found = [heard.silent_seconds() for _ in range(6)]
    assert found == pytest.approx([0.0, 0.1, 0.1, 0.1, 2.1, 4.1])


def test_one_that_has_not_begun_does_not_hang() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        heard = ProcessPulse(os.getpid(), ours, 2.0)
        assert [heard.silent_seconds() for _ in range(3)] == [0.0, 0.0, 0.0]


async def test_processes_end_with_their_supervisor_however_it_ends(tmp_path: Path) -> None:
    supervisor = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SUPERVISOR, str(tmp_path), PROCESS
    )
    await until(lambda: len(list(tmp_path.iterdir())) == 2)
    pids = [int(name) for name in os.listdir(tmp_path)]  # noqa: PTH208 - once
    supervisor.kill()
    await supervisor.wait()
    await until(lambda: not any(is_alive(pid) for pid in pids))


async def test_a_process_that_cannot_be_started_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a descriptor left, for example: nothing ends, and it goes on when there is one."""
    start, refused = asyncio.create_subprocess_exec, [2]

    async def without_descriptors(*words: str, **options: Any) -> asyncio.subprocess.Process:
        if refused[0]:
            refused[0] -= 1
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return await start(*words, **options)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", without_descriptors)
    watched = Watched(tmp_path, "stay", 1, 1000)
    await until(lambda: bool(list(tmp_path.iterdir())), LONG)
    assert len(watched.said) == 2
    assert "could not be started (Too many open files)" in watched.said[0]
    watched.supervisor.stop()
    await watched.running
