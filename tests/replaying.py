"""Replaying an archive with a real pywb, in an environment of its own, over real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
from warcio.archiveiterator import ArchiveIterator

ROOT = Path(__file__).parents[1]
BIN = Path(os.environ.get("MESSOR_PYWB", ROOT / ".venv-pywb" / "bin"))
WHY_NOT = None if (BIN / "wayback").exists() else "pywb is not here: make pywb"
PATIENCE = 60.0


def segments(data_dir: Path) -> list[Path]:
    return sorted((data_dir / "archive").rglob("*.warc.gz"))


def check(data_dir: Path) -> None:
    """Let `warcio check` judge every segment."""
    command = [sys.executable, "-m", "warcio.cli", "check", *map(str, segments(data_dir))]
    judged = subprocess.run(command, capture_output=True, text=True, check=False)
    assert judged.returncode == 0, judged.stdout + judged.stderr


def targets(data_dir: Path) -> list[tuple[str, str]]:
    """Kind and address of every record of an answer, as warcio reads them."""
    found = []
    for path in segments(data_dir):
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type in ("response", "revisit"):
                    url = record.rec_headers.get_header("WARC-Target-URI")
                    found.append((record.rec_type, url))
    return sorted(found)


class Replay:
    """A running pywb."""

    def __init__(self, base: str, session: aiohttp.ClientSession) -> None:
        self.base = base
        self._session = session

    async def get(self, url: str) -> tuple[int, bytes]:
        """The answer of the archive for an address, its body as it was archived."""
        async with self._session.get(f"{self.base}/seen/id_/{url}") as answer:
            return answer.status, await answer.read()


@asynccontextmanager
async def replay(folder: Path, data_dir: Path) -> AsyncIterator[Replay]:
    """pywb over all segments, while the context is open."""
    async with replay_files(folder, segments(data_dir)) as pywb:
        yield pywb


@asynccontextmanager
async def replay_files(folder: Path, files: list[Path]) -> AsyncIterator[Replay]:
    """pywb over WARC or WACZ files, while the context is open."""
    await asyncio.to_thread(folder.mkdir)
    manager = [str(BIN / "wb-manager")]
    adding = ["add", "--unpack-wacz", "seen", *map(str, files)]
    for step in (["init", "seen"], adding):
        await asyncio.to_thread(
            subprocess.run, manager + step, cwd=folder, check=True, capture_output=True
        )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    served = await asyncio.create_subprocess_exec(
        *(str(BIN / "wayback"), "-b", "127.0.0.1", "-p", str(port), "-d", str(folder)),
        cwd=folder,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with aiohttp.ClientSession() as session:
            await _answers(port)
            yield Replay(f"http://127.0.0.1:{port}", session)
    finally:
        with contextlib.suppress(ProcessLookupError):
            served.kill()
        await served.wait()


async def _answers(port: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.1)
            else:
                writer.close()
                await writer.wait_closed()
                return
