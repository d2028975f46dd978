"""PostgreSQL's own programs, in a version that fits the server: an older pg_dump refuses a newer one."""

from __future__ import annotations

import shutil
from pathlib import Path

from messor.errors import UnavailableError
from messor.store.database import Database
from messor.store.embedded.programs import client_program


async def program_for(name: str, dsn: str, bin_dir: Path | None) -> str:
    """The path of a program such as pg_dump; raises a sentence if none fits."""
    async with Database(dsn, pool_size=1) as database:
        version = int(await database.fetchval("SHOW server_version_num"))
    found = client_program(name, bin_dir, version // 10_000) or shutil.which(name)
    if found is None:
        raise UnavailableError(
            f"{name} is not installed. Install it: apt-get install postgresql-client"
        )
    return found
