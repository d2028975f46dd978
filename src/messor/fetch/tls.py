"""TLS with sites and proxies: certificates are verified, by the system's authorities and one's own."""

from __future__ import annotations

import ssl
from functools import lru_cache
from pathlib import Path

from messor.errors import UsageError


@lru_cache(maxsize=4)  # reading the system's authorities takes tens of milliseconds
def verifying_context(ca_file: Path | None) -> ssl.SSLContext:
    """One context for all connections of a process."""
    context = ssl.create_default_context()
    if ca_file is not None:
        trust(context, ca_file)
    return context


def trust(context: ssl.SSLContext, ca_file: Path) -> None:
    """Have a context trust authorities of one's own, too."""
    try:
        context.load_verify_locations(cafile=str(ca_file))
    except ssl.SSLError as error:
        raise UsageError(
            f"{ca_file} holds no certificates that can be read: set MESSOR_CA_FILE to a file of "
            "certificates in PEM form."
        ) from error
    except OSError as error:
        raise UsageError(
            f"{ca_file} cannot be read ({error.strerror}): set MESSOR_CA_FILE to a file of "
            "certificates in PEM form."
        ) from error
