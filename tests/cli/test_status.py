"""`messor status` and `messor doctor`: disks and alarms, and exit codes that tell of them."""

from __future__ import annotations

import asyncio

import pytest

from messor.store.database import Database
from tests.cli.conftest import Messor


def _sound(dsn: str) -> None:
    async def insert() -> None:
        async with Database(dsn) as database, database.connection() as connection:
            await connection.execute(
                "INSERT INTO messor.alarms (place, name, message) VALUES ('there:1', 'clock', 'It jumped.')"
            )

    asyncio.run(insert())


def test_all_is_well(messor: Messor) -> None:
    said = messor("status")
    assert said.code == 0
    assert "alarms: none" in said.out
    found = {check["name"]: check for check in messor("doctor", "--json").json}
    assert found["disks"]["state"] == found["alarms"]["state"] == "ok"


def test_an_alarm_is_told_and_changes_the_exit_code(messor: Messor, dsn: str) -> None:
    _sound(dsn)
    said = messor("status")
    assert said.code == 1
    assert "It jumped." in said.out
    assert messor("status", "--json").json["vitals"]["alarms"][0]["name"] == "clock"
    found = {check["name"]: check for check in messor("doctor", "--json").json}
    assert (found["alarms"]["state"], found["alarms"]["found"]) == ("bad", "there:1: It jumped.")


def test_too_little_room_is_told(messor: Messor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESSOR_MIN_FREE_DISK", "99.9%")
    said = messor("status")
    assert said.code == 1
    assert "Fetching and extracting are paused: the disk of the data folder" in said.out
    found = {check["name"]: check for check in messor("doctor", "--json").json}
    assert found["disks"]["state"] == "bad"
    for words in (["crawl", "http://one.example/"], ["crawl", "one.example", "--mode", "light"]):
        crawled = messor(*words)
        assert crawled.code == 6
        assert "Nothing can be fetched: the disk of the data folder" in crawled.err
        assert "Harvesting" not in crawled.err
    assert messor("domains", "list", "--json").out.strip() in ("", "[]")  # nothing was begun


def test_a_share_that_leaves_nothing_is_refused(
    messor: Messor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESSOR_MIN_FREE_DISK", "much")
    said = messor("status")
    assert said.code == 2
    assert "MESSOR_MIN_FREE_DISK" in said.err
