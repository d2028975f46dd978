"""Monotonic time for deadlines.

Leases live on the database's clock; in a process they become deadlines on this one. It counts
time spent suspended where the system offers such a clock, so that a laptop that slept does not
wake up believing in a lease that ran out long ago.
"""

from __future__ import annotations

import time

_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def now() -> float:
    """Seconds on the deadline clock."""
    return time.clock_gettime(_CLOCK)


def this_year() -> int:
    """The year people write now; no deadline depends on it."""
    return time.gmtime().tm_year
