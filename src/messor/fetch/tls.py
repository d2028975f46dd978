"""TLS with sites and proxies: certificates are verified against the system's authorities and the
configured ones.
"""

from __future__ import annotations

import ssl
from functools import lru_cache
from pathlib import Path

from messor.errors import UsageError


@lru_cache(maxsize=4)  # loading the system's authorities takes tens of milliseconds
def verifying_context(ca_file: Path | None) -> ssl.SSLContext:
    """One context for all connections of a process."""
    context = ssl.create_default_context()
    if ca_file is not None:
        trust(context, ca_file)
    return context


def trust(context: ssl.SSLContext, ca_file: Path) -> None:
    """Make a context also trust the configured authorities."""
    try:
        context.load_verify_locations(cafile=str(ca_file))
    except ssl.SSLError as error:
        raise UsageError(
            f"{ca_file} contains no readable certificates: set MESSOR_CA_FILE to a file of "
            "certificates in PEM form."
        ) from error
    except OSError as error:
        raise UsageError(
            f"{ca_file} cannot be read ({error.strerror}): set MESSOR_CA_FILE to a file of "
            "certificates in PEM form."
        ) from error
