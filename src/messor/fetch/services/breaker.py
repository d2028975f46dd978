"""The circuit breaker of a service: after several faults in a row it is paused.

It is counted in this process alone; after the pause one request checks whether the service is back.
A pause requested by the service itself is honoured at once. Failed pages open the breaker only if
they belong to several domains: one site must not be able to take a service away from all others.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from messor.core import clock

FAULTS_IN_A_ROW = 5
FIRST_WAIT = 60.0
MAX_WAIT = 3600.0
MAX_HOLD = 24 * 3600.0  # upper limit of a pause that a service requests


class Breaker:
    """Decides whether a service may be used."""

    def __init__(self, *, now: Callable[[], float] = clock.now) -> None:
        self._now = now
        self._faults = 0
        self._sites: set[str] = set()  # sites with failed pages since the last success
        self._by_sites = False  # whether failed pages opened it
        self.page_faults = 0  # failed pages since the last success
        self._wait = FIRST_WAIT
        self._until: float | None = None  # None while closed
        self._probing = False
        self.reason = ""  # of the last fault

    @property
    def available(self) -> bool:
        """Whether a request would be admitted now."""
        return self._until is None or (self.remaining <= 0 and not self._probing)

    @property
    def remaining(self) -> float:
        """Seconds until the service is tried again."""
        return max(self._until - self._now(), 0.0) if self._until is not None else 0.0

    @property
    def sentence(self) -> str:
        """Why a request is not admitted."""
        if self.remaining <= 0:
            return f"another request is checking whether it is back; before: {self.reason}"
        return f"it is paused for another {math.ceil(self.remaining)} s: {self.reason}"

    def admit(self) -> BreakerPermit | None:
        """Admit one request; None while the service is paused."""
        if not self.available:
            return None
        probe = self._until is not None
        self._probing = probe
        return BreakerPermit(self, probe=probe)

    def close(self) -> None:
        self._faults, self._wait, self._until, self._probing = 0, FIRST_WAIT, None, False
        self._forget_pages()
        self._by_sites = False

    def hold(self, seconds: float, reason: str) -> None:
        """Pause the service because another worker was told to wait."""
        self.reason = reason
        self._until = max(self._until or 0.0, self._now() + min(seconds, MAX_HOLD))

    def answered(self, *, probe: bool) -> None:
        """The service succeeded; a request sent before it failed proves nothing."""
        if probe:
            self.close()
        elif self._until is None:
            self._faults = 0
            self._forget_pages()

    def failed_at(self, site: str, reason: str, *, probe: bool) -> None:
        """A page of this site failed; the service responded, so it is up."""
        if probe and not self._by_sites:
            self.close()
        if self._until is not None and not probe:
            return
        self.reason = reason
        self.page_faults += 1
        self._sites.add(site)
        if len(self._sites) >= FAULTS_IN_A_ROW:
            self._by_sites, self._probing = True, False
            self._open_longer(0.0)

    def failed(self, reason: str, hold: float, *, probe: bool) -> None:
        self.reason = reason
        hold = min(hold, MAX_HOLD)
        if probe:
            self._probing = False
            self._open_longer(hold)
        elif self._until is None:
            self._faults += 1
            if self._faults >= FAULTS_IN_A_ROW:
                self._open_longer(hold)
            elif hold > 0:
                self._until = self._now() + hold
        else:
            self._until = max(self._until, self._now() + hold)

    def _forget_pages(self) -> None:
        self._sites.clear()
        self.page_faults = 0

    def give_up_probe(self) -> None:
        self._probing = False

    def _open_longer(self, hold: float) -> None:
        self._until = self._now() + max(self._wait, hold)
        self._wait = min(self._wait * 2, MAX_WAIT)


class BreakerPermit:
    """Admission of one request; its result is reported once."""

    __slots__ = ("_breaker", "_is_reported", "_probe")

    def __init__(self, breaker: Breaker, *, probe: bool) -> None:
        self._breaker = breaker
        self._probe = probe
        self._is_reported = False

    def answered(self) -> None:
        self._is_reported = True
        self._breaker.answered(probe=self._probe)

    def failed(self, reason: str, hold: float = 0.0) -> None:
        self._is_reported = True
        self._breaker.failed(reason, hold, probe=self._probe)

    def failed_at(self, site: str, reason: str) -> None:
        self._is_reported = True
        self._breaker.failed_at(site, reason, probe=self._probe)

    def give_back(self) -> None:
        """Nothing was learnt, because nothing was sent or nobody awaited the response."""
        if self._probe and not self._is_reported:
            self._breaker.give_up_probe()
