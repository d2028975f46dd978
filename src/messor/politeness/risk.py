"""Risk: how unwelcome the crawler is at a host, from the friction seen there.

Signals add points, a tenth decays each day (in SQL, on read), and the band of the score sets the
pace; a host in the critical band is not visited until the score has decayed. `messor.risk_level`,
`messor.risk_delay` and `messor.critical_until` are the same bands in SQL; a test compares them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple


class RiskBand(NamedTuple):
    """A range of scores, and the minimum delay it demands."""

    level: str
    above: float
    delay: float  # seconds
    tone: str  # its colour in the console


# Bands of spec 004, highest first; the last one has every other score.
BANDS = (
    RiskBand("critical", 80.0, 2.0, "red"),
    RiskBand("high", 50.0, 2.0, "orange"),
    RiskBand("medium", 20.0, 1.2, "yellow"),
    RiskBand("low", 0.0, 0.0, "green"),
)
# Points of spec 004. A challenge counts the same whichever vendor makes it.
POINTS = {"403": 20.0, "429": 30.0, "503": 15.0, "challenge": 25.0, "empty": 10.0}
CRITICAL, HIGH, MEDIUM = (band.above for band in BANDS[:-1])
MAX_SCORE = 100.0
EARLY_STOP = 3  # friction signals in one visit

SLOW_SECONDS = 5.0
_LATENCY_SHARE = 0.3  # weight of the newest response in the moving average


def points_of(signal: str) -> float:
    """The points a signal adds: `403`, `challenge:cloudflare`, `empty`; others add none."""
    return POINTS.get(signal.partition(":")[0], 0.0)


def band_of(score: float) -> RiskBand:
    return next((band for band in BANDS if score > band.above), BANDS[-1])


def level(score: float) -> str:
    return band_of(score).level


def delay_of(score: float) -> float:
    """Minimum delay in seconds for a score; 0 at low risk."""
    return band_of(score).delay


@dataclass(slots=True)
class HostRisk:
    """A host's risk during a visit."""

    score: float = 0.0
    refusals: int = 0  # consecutive responses that asked for silence
    latency: float | None = None  # seconds, a moving average
    signals: int = field(default=0)  # friction signals in this visit
    unanswered: int = field(default=0)  # consecutive requests without a response

    def add_signals(self, signals: Iterable[str]) -> list[tuple[str, float, float]]:
        """Add the distinct signals of one response; return each with its points and the new score."""
        added = []
        for signal in dict.fromkeys(signals):
            points = points_of(signal)
            if points == 0:
                continue
            self.score = min(self.score + points, MAX_SCORE)
            self.signals += 1
            added.append((signal, points, self.score))
        return added

    def note_request(self, *, answered: bool) -> None:
        self.unanswered = 0 if answered else self.unanswered + 1

    def note_latency(self, seconds: float) -> None:
        """Update the moving average with the duration of a request."""
        known = self.latency
        self.latency = seconds if known is None else known + (seconds - known) * _LATENCY_SHARE

    @property
    def is_critical(self) -> bool:
        return self.score > CRITICAL

    @property
    def is_slow(self) -> bool:
        return self.latency is not None and self.latency > SLOW_SECONDS

    @property
    def should_stop_visit(self) -> bool:
        """Whether there was too much friction for one visit."""
        return self.is_critical or self.signals >= EARLY_STOP
