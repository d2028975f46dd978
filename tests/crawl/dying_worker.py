"""A worker that is killed at a moment around a put: `python -m tests.crawl.dying_worker MOMENT N DSN`.

Its settings come as JSON on standard input.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import Any

from messor.archive.object_writer import ObjectWriter
from messor.archive.objects import ObjectStore
from messor.crawl.flush import Flusher
from messor.crawl.worker import Worker
from messor.settings import Settings
from messor.store.database import Database

MOMENTS = ("before the put", "after the put", "after the commit")


def die_at(moment: str, number: int) -> None:
    """End this process, without a word, at the given occurrence of a moment."""
    left = number

    def count_down() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    put, ready = ObjectStore.put, ObjectWriter.ready
    flushed = 0

    def watched_put(self: ObjectStore, key: str, data: bytes | memoryview) -> None:
        if moment == "before the put":
            count_down()
        put(self, key, data)
        if moment == "after the put":
            count_down()

    async def watched_ready(self: ObjectWriter) -> None:
        # It follows each commit, before what was put is sealed.
        if moment == "after the commit" and flushed:
            count_down()
        await ready(self)

    commit = Flusher.flush

    async def watched_flush(self: Flusher, batch: Any) -> list[int]:
        nonlocal flushed
        closed = await commit(self, batch)
        flushed += bool(batch.results)
        return closed

    ObjectStore.put = watched_put  # type: ignore[method-assign]
    ObjectWriter.ready = watched_ready  # type: ignore[method-assign]
    Flusher.flush = watched_flush  # type: ignore[method-assign]


async def main() -> None:
    moment, number, dsn = sys.argv[1:4]
    die_at(moment, int(number))
    settings = Settings.model_validate_json(sys.stdin.read())
    async with Database(dsn) as database:
        await Worker(settings, database).run()


if __name__ == "__main__":
    asyncio.run(main())
