"""Loopback addresses of simulated hosts.

On Linux all of 127.0.0.0/8 responds without configuration, so hosts get addresses of their own;
elsewhere all share 127.0.0.1 and are distinguished by the Host header.
"""

from __future__ import annotations

import sys

_HOSTS_PER_BLOCK = 250


def address(number: int) -> str:
    """The address of the host with that number, from 127.0.1.1 upwards."""
    if sys.platform != "linux":
        return "127.0.0.1"
    block, last = divmod(number, _HOSTS_PER_BLOCK)
    high, low = divmod(block + 1, 256)
    return f"127.{high}.{low}.{last + 1}"
