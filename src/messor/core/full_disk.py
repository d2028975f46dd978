"""Whether an error means that a disk is full: the system's, or PostgreSQL's."""

from __future__ import annotations

import errno
import os

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
DISK_FULL_STATE = "53100"  # PostgreSQL's
FULL_WORDS = os.strerror(errno.ENOSPC)  # ending of an error that has no SQLSTATE of its own


def is_full(error: BaseException) -> bool:
    if isinstance(error, OSError):
        return error.errno in FULL
    return getattr(error, "sqlstate", None) == DISK_FULL_STATE
