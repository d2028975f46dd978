"""Which loopback address each simulated host has.

On Linux all of 127.0.0.0/8 answers without configuration, so hosts get addresses of their own;
elsewhere everything shares 127.0.0.1 and only the Host header tells hosts apart.
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
