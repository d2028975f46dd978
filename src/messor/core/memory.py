"""How the C library's allocator treats freed memory, and how often the garbage collector looks."""

from __future__ import annotations

import ctypes
import gc

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3  # names of mallopt(3)
_MIB = 1024 * 1024


def keep_freed_memory() -> None:
    """Make glibc reuse freed memory instead of returning it; other C libraries are left alone.

    A page takes some hundred kilobytes for some milliseconds. Returning and requesting them each
    time costs a page fault per 4 KB: a twentieth of the path's time in a virtual machine.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return
    mallopt(_TRIM_THRESHOLD, 64 * _MIB)
    mallopt(_TOP_PAD, 4 * _MIB)
    mallopt(_MMAP_THRESHOLD, 4 * _MIB)


def collect_rarely() -> None:
    """Leave start-up objects, which are permanent, to themselves, and look at others less often.

    Pages, rows and answers are freed by reference counting. With Python's own thresholds the
    collector takes half the time of a batch of the change feed.
    """
    gc.freeze()
    gc.set_threshold(50_000, 50, 50)
