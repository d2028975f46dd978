"""TLS with sites and proxies: certificates are verified, by the system's authorities and one's own."""

from __future__ import annotations

import ssl
from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=4)  # reading the system's authorities takes tens of milliseconds
def verifying_context(ca_file: Path | None) -> ssl.SSLContext:
    """One context for all connections of a process."""
    context = ssl.create_default_context()
    if ca_file is not None:
        context.load_verify_locations(cafile=str(ca_file))
    return context
