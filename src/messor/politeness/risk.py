"""Risk: how unwelcome we are at a host, from the friction we met there.

Signals add points, a tenth goes each day (in SQL, read lazily), and the score sets the pace: from
21 on slower, from 51 on slower still, above 80 the host is left alone until it has decayed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

# Points of spec 004. A challenge counts the same whoever makes it.
POINTS = {"403": 20.0, "429": 30.0, "503": 15.0, "challenge": 25.0, "empty": 10.0}
CRITICAL = 80.0
GREATEST = 100.0
EARLY_STOP = 3  # friction signals in one visit

SLOW_SECONDS = 5.0
_LATENCY_SHARE = 0.3  # of the newest answer in the moving average


def points_of(signal: str) -> float:
    """What a signal adds: `403`, `challenge:cloudflare`, `empty`; others tell, and add nothing."""
    return POINTS.get(signal.partition(":")[0], 0.0)


def level(score: float) -> str:
    if score > CRITICAL:
        return "critical"
    return "high" if score > 50 else "medium" if score > 20 else "low"


def delay_of(score: float) -> float:
    """Seconds that a level asks for beyond the usual pause; low asks for none."""
    return 2.0 if score > 50 else 1.2 if score > 20 else 0.0


@dataclass(slots=True)
class HostRisk:
    """Where a host stands with us during a visit."""

    score: float = 0.0
    refusals: int = 0  # answers in a row that asked for silence
    latency: float | None = None  # seconds, a moving average
    signals: int = field(default=0)  # friction met in this visit
    unheard: int = field(default=0)  # requests in a row without an answer

    def meet(self, signals: Iterable[str]) -> list[tuple[str, float, float]]:
        """Take in the distinct signals of one answer; each with its points and the new score."""
        met = []
        for signal in dict.fromkeys(signals):
            points = points_of(signal)
            if points == 0:
                continue
            self.score = min(self.score + points, GREATEST)
            self.signals += 1
            met.append((signal, points, self.score))
        return met

    def heard(self, *, answered: bool) -> None:
        self.unheard = 0 if answered else self.unheard + 1

    def took(self, seconds: float) -> None:
        """An answer, or none, after this long."""
        known = self.latency
        self.latency = seconds if known is None else known + (seconds - known) * _LATENCY_SHARE

    @property
    def is_critical(self) -> bool:
        return self.score > CRITICAL

    @property
    def is_slow(self) -> bool:
        return self.latency is not None and self.latency > SLOW_SECONDS

    @property
    def must_stop(self) -> bool:
        """Enough friction for one visit."""
        return self.is_critical or self.signals >= EARLY_STOP
