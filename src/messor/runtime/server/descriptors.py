"""File descriptors: the server gets a share, so that the rest of the process always has some.

The database, workers' pipes, logs and segments need descriptors as well; without one, a dead
worker could not be restarted.
"""

from __future__ import annotations

import contextlib
import resource

MOST = 65_536  # more than a process here ever needs
RESERVE = 256
FEWEST = 16
EACH = 2  # per connection: its socket, and a file while it is sent


def raise_limit() -> int:
    """Raise this process's limit as far as the system allows; return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST if hard == resource.RLIM_INFINITY else min(hard, MOST)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(ValueError, OSError):  # a container may forbid it
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return _allowed()


def share(wanted: int) -> int:
    """How many of the configured connections the server may hold."""
    allowed = _allowed()
    return max(FEWEST, min(wanted, (allowed - min(RESERVE, allowed // 2)) // EACH))


def _allowed() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if soft == resource.RLIM_INFINITY else soft
