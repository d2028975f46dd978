"""Writers and readers of the feed as processes that are killed at random and started again.

Run as `python -m tests.feed.crew DSN SEED`. The parent only forks, kills and waits, so that a
restart costs next to nothing.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
import time
from collections.abc import Coroutine
from typing import Any

import asyncpg

from messor.feed.queries import ChangeFilter, read_feed
from messor.store.database import Database

WRITERS, READERS, BATCHES, PARTS = 20, 5, 12, 3
KILLS = 60

NOTE = """
INSERT INTO messor.page_changes (page_id, seen_at, state) VALUES ($1, messor.clock(), 'changed')
"""
CONSUME = """
INSERT INTO public.consumed (reader, id) SELECT $1, * FROM unnest($2::text[])
"""
ADVANCE = "UPDATE public.cursors SET cursor = $2 WHERE reader = $1"
READ = "SELECT cursor FROM public.cursors WHERE reader = $1"
LEFT = """
SELECT (SELECT count(*) FROM public.written) < $1
    OR EXISTS (SELECT FROM public.cursors r WHERE (SELECT count(*) FROM public.consumed c
                                                    WHERE c.reader = r.reader) < $1 * $2)
"""


async def write(dsn: str, writer: int) -> None:
    """Each batch is one transaction; some stay open longer than others, and commit later."""
    chance = random.Random(os.getpid())  # a fork has its parent's state otherwise
    raw = await asyncpg.connect(dsn, ssl=False)
    pages = await raw.fetch("SELECT id FROM messor.pages ORDER BY id")
    done = await raw.fetchval("SELECT count(*) FROM public.written WHERE writer = $1", writer)
    for batch in range(done, BATCHES):
        async with raw.transaction():
            await raw.execute("INSERT INTO public.written VALUES ($1, $2)", writer, batch)
            for _ in range(PARTS):
                await raw.execute(NOTE, pages[writer]["id"])
                await asyncio.sleep(chance.random() ** 4 * 0.2)
    await raw.close()


async def read(dsn: str, reader: int) -> None:
    """What was read and the cursor after it are stored together, as a consumer does."""
    wanted = ChangeFilter(kinds="page")
    async with Database(dsn, pool_size=1) as database:
        while True:
            at = await database.fetchval(READ, reader)
            page = await read_feed(database, wanted, cursor=at, limit=7)
            async with database.transaction() as own:
                await own.execute(CONSUME, reader, [one.id for one in page.items])
                await own.execute(ADVANCE, reader, page.cursor)
            if page.next is None:
                await asyncio.sleep(0.02)


async def is_unfinished(dsn: str) -> bool:
    raw = await asyncpg.connect(dsn, ssl=False)
    found: bool = await raw.fetchval(LEFT, WRITERS * BATCHES, PARTS)
    await raw.close()
    return found


def fork(work: Coroutine[Any, Any, None]) -> int:
    pid = os.fork()
    if pid == 0:
        asyncio.run(work)
        os._exit(0)
    work.close()
    return pid


def start(dsn: str, name: str, number: int) -> int:
    return fork(write(dsn, number) if name == "writer" else read(dsn, number))


def main(dsn: str, seed: int) -> None:
    chance = random.Random(seed)
    wanted = [("writer", n) for n in range(WRITERS)] + [("reader", n) for n in range(READERS)]
    running = {one: start(dsn, *one) for one in wanted}
    try:
        for _ in range(KILLS):
            time.sleep(0.05)
            one = chance.choice(wanted)
            os.kill(running[one], signal.SIGKILL)
            os.waitpid(running[one], 0)
            running[one] = start(dsn, *one)
        while asyncio.run(is_unfinished(dsn)):
            time.sleep(0.1)
    finally:
        for pid in running.values():
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
