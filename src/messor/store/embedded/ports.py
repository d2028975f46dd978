"""Whether the embedded server can listen on the configured loopback port."""

from __future__ import annotations

import socket

from messor.errors import UnavailableError


def require_free(port: int) -> None:
    """Raise if another program listens there."""
    with socket.socket() as listener:
        # As PostgreSQL does: connections of the previous server may still be in TIME_WAIT.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except OSError as error:
            raise UnavailableError(
                f"Port {port} is in use by another program: free it, or set MESSOR_POSTGRES_PORT "
                f"to another port (0 disables it)."
            ) from error
