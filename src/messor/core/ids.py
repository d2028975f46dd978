"""UUIDv7 for what people handle: unique without coordination, sorted by creation time."""

from __future__ import annotations

import os
import time
from uuid import UUID


def new_id() -> UUID:
    """A UUIDv7 as RFC 9562 section 5.7 lays it out: 48 bits of milliseconds, then randomness."""
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10), "big")
    value = (milliseconds & 0xFFFF_FFFF_FFFF) << 80
    value |= 0x7 << 76 | (random >> 68 & 0xFFF) << 64
    value |= 0b10 << 62 | (random & 0x3FFF_FFFF_FFFF_FFFF)
    return UUID(int=value)
