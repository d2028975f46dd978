"""The socket on which the console and the API are served.

`messor up` binds it and hands it to the process that serves, so that the port stays the same, and
requests wait, while that process is replaced.
"""

from __future__ import annotations

import os
import socket

from messor.errors import UnavailableError

BACKLOG = 2048  # connections that wait


def listen(host: str, port: int) -> socket.socket:
    """Listen on a port; 0 means any free one. Connections wait until somebody serves them."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(
        family, socket.SOCK_STREAM, socket.IPPROTO_TCP
    )  # declared as TCP, so that Nagle's algorithm is off
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise UnavailableError(
            f"The console cannot listen on {host}:{port} ({error.strerror}); "
            "set MESSOR_LISTEN_PORT to another port, or to 0 for any free port."
        ) from error
    listening.setblocking(False)
    return listening


def inherited(descriptor: int) -> socket.socket:
    """A socket that the parent process bound; may be closed without closing the parent's."""
    return socket.socket(fileno=os.dup(descriptor))
