"""Growth: whether a function's time outgrows its input's size.

Suspects are grown by repeating their repeating part, and measured in processor time. One is
confirmed when time more than triples over two doublings in a row, beyond what noise explains.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass

from fuzz.mutate import Sample
from fuzz.targets import Target

_RATIO = 3.0  # per doubling: linear gives 2, quadratic 4
_LEAST_SECONDS = 0.05
_ENOUGH_SECONDS = 0.2
_TOO_MANY_SECONDS = 2.0
_FIRST_FACTOR = 1 / 16  # a slow input may be slow because it has already grown
_MAX_SIZE = 2 * 1024 * 1024
_RECHECKS = 3

_SLOW_SECONDS = 0.003
_SLOW_FACTOR = 4.0
_SIZED = 1024  # below this, constant costs hide the rate


def seconds_of(target: Target, data: bytes) -> float:
    """Processor time of one call, whatever becomes of it."""
    started = time.process_time()
    with suppress(Exception):
        target(data)
    return time.process_time() - started


class Pace:
    """What a target usually takes per byte, so that slow inputs stand out."""

    def __init__(self) -> None:
        self._bytes = 0
        self._seconds = 0.0

    def is_slow(self, size: int, seconds: float) -> bool:
        """Note one call, and say whether it was slow for its size."""
        usual = self._seconds / self._bytes if self._bytes else 0.0
        slow = seconds > _SLOW_SECONDS and seconds > _SLOW_FACTOR * usual * size
        if size >= _SIZED and not slow:
            self._bytes += size
            self._seconds += seconds
        return slow


@dataclass(frozen=True, slots=True)
class Outgrowth:
    """A confirmed suspect: the sizes and times of three doublings, and the largest input."""

    data: bytes
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]

    def __str__(self) -> str:
        steps = zip(self.sizes, self.seconds, strict=True)
        return ", ".join(f"{size} B {1000 * seconds:.0f} ms" for size, seconds in steps)


def find_outgrowth(target: Target, sample: Sample) -> Outgrowth | None:
    """Grow a suspect step by step; None when its time stays in proportion."""
    inputs: list[bytes] = []
    times: list[float] = []
    factor = _FIRST_FACTOR
    while True:
        data = sample.grown(factor)
        if len(data) > _MAX_SIZE:
            return None
        inputs.append(data)
        times.append(seconds_of(target, data))
        if _outgrows(times[-3:]):
            confirmed = _confirmed(target, inputs[-3:])
            if confirmed is not None:
                return confirmed
        if times[-1] > _ENOUGH_SECONDS and not _is_rising(times):
            return None
        factor *= 2


def _is_rising(times: list[float]) -> bool:
    """Whether the last doubling alone is suspicious, so that one more may confirm it."""
    return len(times) > 1 and times[-1] > _RATIO * times[-2] and times[-1] < _TOO_MANY_SECONDS


def _outgrows(times: list[float]) -> bool:
    if len(times) < 3 or times[-1] < _LEAST_SECONDS:
        return False
    return times[1] > _RATIO * times[0] and times[2] > _RATIO * times[1]


def _confirmed(target: Target, inputs: list[bytes]) -> Outgrowth | None:
    """Measure again, several times; the suspect must outgrow its size every time."""
    times: list[float] = []
    for _ in range(_RECHECKS):
        times = [seconds_of(target, data) for data in inputs]
        if not _outgrows(times):
            return None
    return Outgrowth(inputs[-1], tuple(map(len, inputs)), tuple(times))
