"""A port to serve on."""

from __future__ import annotations

import socket


def listen() -> socket.socket:
    """A listening socket on loopback, known as TCP as the program's own are.

    Of one that is not, asyncio does not know that it may turn Nagle's algorithm off: the second
    part of every answer then waits 40 ms for the first to be acknowledged.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen(100)
    return listening
