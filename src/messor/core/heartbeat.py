"""Heartbeats: what a component is doing, and how often each activity has made a step.

A component beats with every round of its loops and every step of longer work, idle or not; its
watchdog (`runtime.watchdog`) restarts it when an activity stays silent. Time is not measured here,
so that a machine that was suspended or a process that was stopped is not taken for a hang.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

PATIENCE_SECONDS = 180.0  # several times the database's own limit on a statement


class Heartbeat:
    """The activities of one component; one that is neither begun nor ended is not watched."""

    def __init__(self, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self.patience_seconds = patience_seconds  # how long an activity may stay silent
        self._steps = 0
        self._latest: dict[str, int] = {}

    @property
    def latest(self) -> Mapping[str, int]:
        """The number of the latest step of each activity; it changes with every beat."""
        return self._latest

    def beat(self, activity: str) -> None:
        self._steps += 1
        self._latest[activity] = self._steps

    def end(self, activity: str) -> None:
        """An activity that has nothing to do for long; it is no longer watched."""
        self._latest.pop(activity, None)

    def end_all(self) -> None:
        self._latest.clear()

    @contextmanager
    def during(self, activity: str) -> Iterator[None]:
        """Watch an activity only while it lasts."""
        self.beat(activity)
        try:
            yield
        finally:
            self.end(activity)
