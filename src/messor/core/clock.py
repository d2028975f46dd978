"""Monotonic time for deadlines.

Leases use the database's clock; within a process they become deadlines on this one. It counts time
spent suspended where the system has such a clock, so that a laptop does not wake up trusting a
lease that expired while it slept.
"""

from __future__ import annotations

import time

_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def now() -> float:
    """Seconds on the deadline clock."""
    return time.clock_gettime(_CLOCK)


def this_year() -> int:
    """The current year; no deadline depends on it."""
    return time.gmtime().tm_year
