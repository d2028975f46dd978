"""A process that continues an export and kills itself after so many chunks: `killed DSN ID FOLDER N`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from uuid import UUID

from messor.exports import batches
from messor.exports.run import Folders, run
from messor.exports.spool import Spool
from messor.store.database import Database

WINDOW = 50


class DyingSpool(Spool):
    """Kills its process in the middle of a chunk, of which half is on disk."""

    left = 0

    async def write(self, chunk: bytes) -> None:
        DyingSpool.left -= 1
        if DyingSpool.left <= 0:
            await super().write(chunk[: len(chunk) // 2])
            self._file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        await super().write(chunk)


async def main(dsn: str, export_id: str, folder: str, chunks: str) -> None:
    from messor.exports import run as running  # noqa: PLC0415 - its spool is replaced

    DyingSpool.left = int(chunks)
    vars(running)["Spool"] = DyingSpool
    batches.WINDOW = WINDOW
    async with Database(dsn, pool_size=1) as database:
        await run(database, Folders(Path(folder), Path(folder)), UUID(export_id))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
