"""Whether an error says that a disk is full: the system's, or PostgreSQL's own word for it."""

from __future__ import annotations

import errno
import os

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
DISK_FULL_STATE = "53100"  # PostgreSQL's
FULL_WORDS = os.strerror(errno.ENOSPC)  # how an error ends that is told without a state of its own


def is_full(error: BaseException) -> bool:
    if isinstance(error, OSError):
        return error.errno in FULL
    return getattr(error, "sqlstate", None) == DISK_FULL_STATE
