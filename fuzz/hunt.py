"""The hunt: inputs for one target until its time is up, and what was found, each thing once."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from fuzz.growth import Pace, find_outgrowth
from fuzz.mutate import Mutator, Sample
from fuzz.targets import BrokenInvariantError, Target

_PROBE_SHARE = 0.5  # of the time, at most, for growing suspects


@dataclass(slots=True)
class Finding:
    """One thing that is wrong, with the first input that showed it."""

    kind: str  # "exception", "invariant", "growth", "crash" or "hang"
    sentence: str
    data: bytes
    times_seen: int = 1


@dataclass(slots=True)
class Haul:
    """What a hunt came to."""

    target: str
    inputs: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    probes: int = 0
    skipped_probes: int = 0
    findings: dict[str, Finding] = field(default_factory=dict)

    def note(self, kind: str, place: str, sentence: str, data: bytes) -> None:
        """Keep a finding, or count it when the same was seen at the same place."""
        known = self.findings.get(f"{kind} {place}")
        if known is None:
            self.findings[f"{kind} {place}"] = Finding(kind, sentence, data)
        else:
            known.times_seen += 1
            if kind != "growth" and len(data) < len(known.data):
                known.data, known.sentence = data, sentence

    def add(self, other: Haul) -> None:
        """Take over another hunt's figures and findings, but not its count of inputs."""
        self.slowest = max(self.slowest, other.slowest)
        self.probes += other.probes
        self.skipped_probes += other.skipped_probes
        for key, found in other.findings.items():
            known = self.findings.setdefault(key, found)
            if known is not found:
                known.times_seen += found.times_seen


class Hunt:
    """Runs one target on seeds, then on mutations of them."""

    def __init__(self, name: str, target: Target, seeds: Sequence[bytes], seed: int) -> None:
        self.haul = Haul(name)
        self.on_finding: Callable[[Haul], None] | None = None
        self._target = target
        self._seeds = seeds
        self._mutator = Mutator(name, seeds, Random(f"{name}-{seed}"))
        self._pace = Pace()
        self._calling = 0.0
        self._probing = 0.0

    def run(self, seconds: float, *, seeds_first: bool = True) -> Haul:
        started = time.monotonic()
        for data in self._seeds if seeds_first else ():
            if time.monotonic() - started < seconds:
                self._try(Sample(data))
        while time.monotonic() - started < seconds:
            self._try(self._mutator.next())
        self.haul.seconds = time.monotonic() - started
        return self.haul

    def _try(self, sample: Sample) -> None:
        started = time.process_time()
        try:
            self._target(sample.data)
        except BrokenInvariantError as broken:
            self._note("invariant", str(broken), str(broken), sample.data)
        except Exception as error:  # noqa: BLE001 - any exception at all is what is looked for
            sentence = f"{type(error).__name__}: {str(error)[:120]!a} at {_place(error)}"
            self._note("exception", _place(error), sentence, sample.data)
        seconds = time.process_time() - started
        self.haul.inputs += 1
        self.haul.slowest = max(self.haul.slowest, seconds)
        self._calling += seconds
        if self._pace.is_slow(len(sample.data), seconds):
            self._probe(sample)

    def _probe(self, sample: Sample) -> None:
        """Grow a slow input, unless probing has taken more than its share of the time."""
        if self._probing > _PROBE_SHARE * (self._probing + self._calling) + 1:
            self.haul.skipped_probes += 1
            return
        self.haul.probes += 1
        started = time.process_time()
        found = find_outgrowth(self._target, sample)
        self._probing += time.process_time() - started
        if found is not None:
            part = sample.data[sample.start : sample.end][:40]
            self._note("growth", "time", f"{found}; repeating {part!a}", found.data)

    def _note(self, kind: str, place: str, sentence: str, data: bytes) -> None:
        known = len(self.haul.findings)
        self.haul.note(kind, place, sentence, data)
        if self.on_finding is not None and len(self.haul.findings) > known:
            self.on_finding(self.haul)


def _place(error: BaseException) -> str:
    """The innermost line of a traceback, as file and function."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].name}" if frames else "?"
