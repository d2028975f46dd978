"""The lifeline: ends a process when its supervisor is gone.

Standard input is a pipe whose other end only the supervisor holds; the kernel closes it however
the supervisor ends.
"""

from __future__ import annotations

import asyncio
import os

STDIN = 0


class Lifeline:
    """A component that ends with the supervisor."""

    def __init__(self, descriptor: int = STDIN) -> None:
        self._descriptor = descriptor
        self._end = asyncio.Event()

    def stop(self) -> None:
        self._end.set()

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_reader(self._descriptor, self._hear)
        try:
            await self._end.wait()
        finally:
            loop.remove_reader(self._descriptor)

    def _hear(self) -> None:
        if not os.read(self._descriptor, 4096):
            self._end.set()
