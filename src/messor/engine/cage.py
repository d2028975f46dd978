"""The cage: a process of its own for reading a page that may end or stall its reader.

Used for pages that killed a reader before, and for those too large or too tangled to be read
beside others. It has bounds of time and memory; a page that breaks them is too complex, and no
more than that happened.
"""

from __future__ import annotations

import asyncio
import contextlib
import resource
import sys

import msgspec

from messor.web.html import PageReading, TooComplexError, read_page

SECONDS = 5
MEMORY = 512 * 1024 * 1024
_AT_ONCE = 2

Order = tuple[str, str, str]  # html, url, agent


class Cage:
    """Reads pages in processes that may die."""

    def __init__(self, *, agent: str, seconds: int = SECONDS, memory: int = MEMORY) -> None:
        self._agent = agent
        self._seconds = seconds
        self._memory = memory
        self._room = asyncio.Semaphore(_AT_ONCE)

    async def read(self, html: str, url: str) -> PageReading:
        """The page's reading; TooComplexError when its process broke its bounds."""
        async with self._room:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "messor.engine.cage",
                str(self._seconds),
                str(self._memory),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )
            order = msgspec.msgpack.encode((html, url, self._agent))
            try:
                async with asyncio.timeout(2 * self._seconds):
                    answer, _ = await process.communicate(order)
            except TimeoutError:
                raise TooComplexError(f"Reading the page takes over {self._seconds} s.") from None
            finally:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if process.returncode != 0:
            raise TooComplexError("Reading the page ended its process.")
        return msgspec.msgpack.decode(answer, type=PageReading)


def main() -> None:
    """Read one order from standard input within bounds, and write the reading."""
    seconds, memory = int(sys.argv[1]), int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    html, url, agent = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Order)
    reading = read_page(html, url, agent=agent, bounded=False)
    sys.stdout.buffer.write(msgspec.msgpack.encode(reading))


if __name__ == "__main__":
    main()
