"""A process that keeps a small schedule: `python -m tests.schedule.leading DSN HOLDER`.

It runs one orchestrator every second, with a lease that a busy machine does not lose.
"""

from __future__ import annotations

import asyncio
import signal
import sys

from messor.schedule.clockwork import Clockwork
from messor.schedule.orchestrators import Registry
from messor.store.database import Database
from tests.schedule.marks import counting

LEASE_SECONDS = 6.0


async def main(dsn: str, holder: str) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with Database(dsn) as database:
        registry = Registry(counting(cadence="@every 1s"))
        work = Clockwork(database, registry, stop, holder=holder, lease_seconds=LEASE_SECONDS)
        await work.run()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
