"""How much room there is, and when that is too little."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import asyncpg
import pytest
from pydantic import ValidationError

from messor.core import clock
from messor.settings import Settings
from messor.store import space
from messor.store.database import Database
from messor.store.space import MinimumFree, Space


@pytest.mark.parametrize(
    "text, of_a_terabyte",
    [("5%", 50 * 10**9), ("0%", 0), ("2GB", 2 * 10**9), ("500 mb", 5 * 10**8), ("77", 77)],
)
def test_what_must_stay_free(text: str, of_a_terabyte: int) -> None:
    assert MinimumFree.understand(text).of(10**12) == of_a_terabyte
    assert Settings(min_free_disk=text).min_free_disk == text


@pytest.mark.parametrize("text", ["", "five", "-1%", "5 PB"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ValidationError):
        Settings(min_free_disk=text)
    with pytest.raises(ValueError, match="neither a share"):
        MinimumFree.understand(text)


def _measured(monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    found = SimpleNamespace(f_blocks=1000, f_frsize=1_000_000, f_bavail=free)
    monkeypatch.setattr(os, "statvfs", lambda _: found)
    monkeypatch.setattr(space, "CACHE_SECONDS", -1.0)


def test_work_goes_on_with_somewhat_more_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = Space.of(Settings(data_dir=tmp_path / "not" / "made"))
    for free, low in [(51, False), (49, True), (51, True), (56, False), (51, False)]:
        _measured(monkeypatch, free)
        assert room.is_low is low, free
    _measured(monkeypatch, 10)
    assert room.message is not None
    assert "has 10.0 MB of 1.0 GB free, below the minimum of 50.0 MB" in room.message


def test_a_servers_word_that_its_disk_is_full_counts_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _measured(monkeypatch, 900)
    database = Database("postgresql://nowhere")
    room = Space.of(Settings(data_dir=tmp_path), database)
    assert not room.is_low
    database.disk_full_at = clock.now()
    assert room.message == "the PostgreSQL server reports that its disk is full"
    database.disk_full_at -= space.FULL_SECONDS
    assert not room.is_low


async def test_a_server_without_room_for_a_connection_counts_as_full(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL tells that by an internal error, as no table is concerned."""

    async def refuse(*_: object, **__: object) -> None:
        raise asyncpg.InternalServerError("could not write init file: No space left on device")

    async with Database(dsn) as database, database.connection():
        monkeypatch.setattr(asyncpg, "connect", refuse)
        with pytest.raises(asyncpg.DiskFullError):
            await database.fetchval("SELECT 1")
        here = Space({"data folder": tmp_path}, MinimumFree(0.0, 1), database)
        assert here.message == "the PostgreSQL server reports that its disk is full"
