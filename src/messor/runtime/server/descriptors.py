"""File descriptors: the server gets a share, so that the rest of the process always has some.

The database, the workers' pipes, logs and segments need descriptors as well; without one left, a
worker that died could not be started again.
"""

from __future__ import annotations

import contextlib
import resource

MOST = 65_536  # more than a process here ever needs
RESERVE = 256
FEWEST = 16
EACH = 2  # that a connection holds: its socket, and a file while that is sent


def raise_limit() -> int:
    """Allow this process as many as the system lets it have; answers how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST if hard == resource.RLIM_INFINITY else min(hard, MOST)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(ValueError, OSError):  # a container may forbid it
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return _allowed()


def share(wanted: int) -> int:
    """How many connections the server may hold of those it is set to."""
    allowed = _allowed()
    return max(FEWEST, min(wanted, (allowed - min(RESERVE, allowed // 2)) // EACH))


def _allowed() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if soft == resource.RLIM_INFINITY else soft
