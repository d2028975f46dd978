"""The supervisor of real processes: those that die, hang, grow, and those whose supervisor dies."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from messor.runtime.supervisor import RestartPolicy, Supervisor
from tests.crawling import until

LONG = 60.0
PATIENCE = RestartPolicy(first_pause_seconds=0.01, stop_seconds=LONG, poll_seconds=0.05)
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
        command = [sys.executable, "-c", PROCESS, str(folder), end]
        policy = IMPATIENCE if end == "deaf" else PATIENCE
        self.supervisor = Supervisor(
            command, count, say=self.said.append, ceiling_mb=ceiling_mb, policy=policy
        )
        self.running = asyncio.create_task(self.supervisor.run())

    @property
    def started(self) -> set[int]:
        return {int(path.name) for path in self._folder.iterdir()}

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
