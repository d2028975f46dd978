"""Log lines: readable or JSON, one line each, with ids, levels by room and without secrets."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterator
from logging import DEBUG, INFO
from typing import Literal

import pytest

from messor.core.logs import configure_logs, log, log_ids, room_logger

crawl = room_logger("messor.crawl.visit")
fetch = room_logger("messor.fetch")


Written = Callable[[], str]


@pytest.fixture
def written(capsys: pytest.CaptureFixture[str]) -> Iterator[Written]:
    """What is logged; levels are put back afterwards."""
    root, loggers = logging.getLogger(), (logging.getLogger("messor"), crawl, fetch)
    handlers, levels = list(root.handlers), [each.level for each in loggers]
    yield lambda: capsys.readouterr().err
    root.handlers[:] = handlers
    for each, level in zip(loggers, levels, strict=True):
        each.setLevel(level)


def test_a_room_has_one_logger() -> None:
    assert crawl is room_logger("messor.crawl.flush")
    assert crawl.name == "messor.crawl"


def test_a_line_says_time_level_room_message_and_facts(written: Written) -> None:
    configure_logs("info", "text")
    log(crawl, INFO, "visit ended", host="shop.test", why="no more pages", pages=3, left=None)
    line = written()
    assert line.endswith(' INFO crawl: visit ended host=shop.test why="no more pages" pages=3\n')
    assert line[:2] == "20"


def test_json_has_the_same_facts(written: Written) -> None:
    configure_logs("info", "json")
    log(crawl, INFO, "visit ended", host="shop.test", pages=3)
    told = json.loads(written())
    assert told.pop("time")
    assert told == {
        "level": "info", "room": "crawl", "message": "visit ended", "host": "shop.test", "pages": 3,
    }  # fmt: skip


@pytest.mark.parametrize(
    "levels, expected",
    [
        (None, set()),
        ("info", {"crawl-info", "fetch-info"}),
        ("warning,fetch=debug", {"fetch-info", "fetch-debug"}),
        (" INFO , Crawl=Debug ", {"crawl-info", "crawl-debug", "fetch-info"}),
    ],
)
def test_levels_are_set_by_room(written: Written, levels: str | None, expected: set[str]) -> None:
    for logger in (crawl, fetch):
        logger.setLevel(logging.NOTSET)
    configure_logs(levels, "text")
    for name, logger in (("crawl", crawl), ("fetch", fetch)):
        log(logger, INFO, f"{name}-info")
        log(logger, DEBUG, f"{name}-debug")
    assert {line.rpartition(": ")[2] for line in written().splitlines()} == expected


async def test_ids_follow_into_tasks_and_end_with_their_block(written: Written) -> None:
    configure_logs("info", "json")

    async def work() -> None:
        log(crawl, INFO, "inside")

    with log_ids(run=7), log_ids(visit="1-2"):
        await asyncio.create_task(work())
    log(crawl, INFO, "outside")
    inside, outside = map(json.loads, written().splitlines())
    assert (inside["run"], inside["visit"]) == ("7", "1-2")
    assert "run" not in outside


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_line_is_one_line_and_holds_no_secret(
    written: Written, form: Literal["text", "json"]
) -> None:
    configure_logs("info", form)
    log(crawl, INFO, "fetched", url="https://ada:hunter2-hunter2@shop.test/\n2026 ERROR x: forged")
    log(crawl, INFO, "asked", password="hunter2-hunter2", bad="\x1b[31m\x9b2J")
    text = written()
    assert "hunter2" not in text
    assert len(text.splitlines()) == 2
    assert not set(text) & {"\x1b", "\x9b"}


def test_a_failure_has_its_trace(written: Written) -> None:
    configure_logs(None, "json")
    try:
        int("token=abcdefgh12345")
    except ValueError:
        crawl.exception("failed")
    told = json.loads(written())
    assert "ValueError" in told["error"]
    assert "abcdefgh" not in told["error"]


def test_configuring_twice_writes_once(written: Written) -> None:
    configure_logs("info", "text")
    configure_logs("info", "text")
    log(crawl, INFO, "once")
    assert len(written().splitlines()) == 1
