"""The cage: a hunt in a process of its own, so that an input which kills it is a finding too.

Every input is written to shared memory before its call. When the process ends by a signal, or
does not end, that input is kept and a new process goes on with other mutations.
"""

from __future__ import annotations

import mmap
import multiprocessing
import pickle
import signal
import tempfile
import time
from collections.abc import Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

from fuzz.hunt import Haul, Hunt
from fuzz.targets import Target

_ROOM = 8 * 1024 * 1024  # more than the largest input that is ever grown
_HEAD = 16  # how many inputs so far, and the size of the last one
_GRACE_SECONDS = 60.0  # beyond its time before a hunt counts as stuck
_OTHER_MUTATIONS = 7919


class Cage:
    """Hunts for one target, again after every crash, until its time is up."""

    def __init__(
        self,
        name: str,
        target: Target,
        seeds: Sequence[bytes],
        seed: int,
        *,
        grace_seconds: float = _GRACE_SECONDS,
    ) -> None:
        self._name = name
        self._target = target
        self._seeds = seeds
        self._seed = seed
        self._grace_seconds = grace_seconds
        self._memory = mmap.mmap(-1, _ROOM)

    def run(self, seconds: float) -> Haul:
        total = Haul(self._name)
        started = time.monotonic()
        deaths = 0
        with tempfile.TemporaryDirectory(prefix="messor-fuzz-cage-") as folder:
            report = Path(folder) / "haul"
            while deaths == 0 or time.monotonic() - started < seconds:
                left = seconds - (time.monotonic() - started)
                if self._hunted(left, deaths, report, total):
                    break
                deaths += 1
        total.seconds = time.monotonic() - started
        return total

    def _hunted(self, seconds: float, deaths: int, report: Path, total: Haul) -> bool:
        """Add one process's haul to the total; whether it lived to its end."""
        report.unlink(missing_ok=True)
        self._memory[:_HEAD] = bytes(_HEAD)
        process = multiprocessing.get_context("fork").Process(
            target=self._hunt, args=(seconds, deaths, report)
        )
        process.start()
        process.join(seconds + self._grace_seconds)
        kind, sentence = _ending(process)
        inputs, data = self._last_input()
        if report.exists():
            total.add(pickle.loads(report.read_bytes()))
        total.inputs += inputs
        if kind:
            total.note(kind, sentence, sentence, data)
        return not kind

    def _hunt(self, seconds: float, deaths: int, report: Path) -> None:
        """In the child: the hunt, with its findings written down as they come."""
        hunt = Hunt(self._name, self._recorded, self._seeds, self._seed + _OTHER_MUTATIONS * deaths)
        hunt.on_finding = lambda haul: _write(report, haul)
        _write(report, hunt.run(seconds, seeds_first=deaths == 0))

    def _recorded(self, data: bytes) -> None:
        memory = self._memory
        inputs = int.from_bytes(memory[:8], "little") + 1
        memory[8:_HEAD] = len(data).to_bytes(8, "little")
        memory[_HEAD : _HEAD + len(data)] = data
        memory[:8] = inputs.to_bytes(8, "little")
        self._target(data)

    def _last_input(self) -> tuple[int, bytes]:
        head = self._memory[:_HEAD]
        size = int.from_bytes(head[8:], "little")
        return int.from_bytes(head[:8], "little"), self._memory[_HEAD : _HEAD + size]


def _write(report: Path, haul: Haul) -> None:
    """Replace the report as a whole: the process may die at any moment."""
    draft = report.with_suffix(".draft")
    draft.write_bytes(pickle.dumps(haul))
    draft.replace(report)


def _ending(process: BaseProcess) -> tuple[str, str]:
    """What kind of finding a process's end is, if any, and a sentence about it."""
    if process.exitcode is None:
        process.kill()
        process.join()
        return "hang", "the call does not return"
    if process.exitcode < 0:
        return "crash", f"the process was ended by {signal.Signals(-process.exitcode).name}"
    if process.exitcode > 0:
        return "crash", f"the process ended with status {process.exitcode}"
    return "", ""
