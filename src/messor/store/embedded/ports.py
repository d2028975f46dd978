"""Which port the embedded server listens on: the asked one, else the kept one, else a free one."""

from __future__ import annotations

import random
import socket

from messor.errors import UnavailableError

# Below the ranges systems take ports of outgoing connections from: while the server is down
# nothing else is likely to take its port, so it can keep it.
_RANGE = (20_000, 32_000)
_TRIES = 200


def choose_port(asked: int, kept: int | None) -> int:
    """The port to start on. An asked port that is taken is an error, a kept one is replaced."""
    if asked:
        if not is_free(asked):
            raise UnavailableError(
                f"Port {asked} is taken by another program: free it, or set MESSOR_POSTGRES_PORT "
                f"to another port (0 picks a free one)."
            )
        return asked
    if kept is not None and is_free(kept):
        return kept
    for _ in range(_TRIES):
        port = random.randrange(*_RANGE)  # noqa: S311 - not a secret
        if is_free(port):
            return port
    raise UnavailableError(f"No free port was found between {_RANGE[0]} and {_RANGE[1]}.")


def is_free(port: int) -> bool:
    with socket.socket() as listener:
        # As PostgreSQL does: connections of the previous server may still be in TIME_WAIT.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
