"""Reading processes: many pages on hand, and whoever ends or stalls one is blamed alone."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import psutil
import pytest
import uvloop

from messor.archive import warc
from messor.errors import UsageError
from messor.extraction.reader_pool import MEMORY, ON_HAND, ReaderPool, wanted_kinds
from messor.extraction.reader_protocol import (
    GetInput,
    ReaderProgress,
    ReadRequest,
    UnreadableError,
    framed,
)
from tests.crawling import PATIENCE, until
from tests.web.test_depth import DEEP

HTML = "<!doctype html><html lang=en><title>{0}</title><h1>{0}</h1><p>Call +49 30 901820 now.</p>"


class Archive:
    """A folder of segments with one page each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def page(self, name: str, more: str = "") -> ReadRequest:
        body = (HTML.format(name) + more).encode()
        record = warc.response(f"http://shop.example/{name}", 200, "OK", (), body=body)
        (self.folder / name).write_bytes(record)
        return self._order(name, len(record))

    def killer(self) -> ReadRequest:
        """Nobody expects an order of values that is none: its process ends."""
        good = self.page("killer")
        return ReadRequest(*_place(good), good.content_type, good.url, good.status, ranking=b"?")

    def staller(self) -> ReadRequest:
        """A pipe that nobody writes to: reading it takes for ever."""
        os.mkfifo(self.folder / "staller")
        return self._order("staller", 10)

    def lost(self) -> ReadRequest:
        return self._order("lost", 10)

    def _order(self, name: str, length: int) -> ReadRequest:
        url = f"http://shop.example/{name}"
        return ReadRequest(str(self.folder), name, 0, length, "text/html; charset=utf-8", url, 200)


def _place(order: ReadRequest) -> tuple[str, str, int, int]:
    return order.folder, order.segment, order.offset, order.length


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path)


@pytest.fixture
async def readers() -> AsyncIterator[ReaderPool]:
    one = ReaderPool(1)
    yield one
    await one.close()


async def told(readers: ReaderPool, *orders: ReadRequest) -> list[str]:
    """The title of each page, or why it could not be read."""
    answers = await asyncio.gather(*readers.ask(orders), return_exceptions=True)
    return [
        str(answer) if isinstance(answer, UnreadableError) else answer.page.metadata["title"]  # type: ignore[union-attr]
        for answer in answers
    ]


def processes() -> list[int]:
    found = []
    for each in psutil.Process().children():
        with suppress(psutil.Error):  # it may end meanwhile
            if "messor.extraction.reader_process" in each.cmdline():
                found.append(each.pid)
    return found


async def test_many_pages_are_on_hand_and_each_is_answered(
    archive: Archive, readers: ReaderPool
) -> None:
    names = [f"page-{number}" for number in range(3 * ON_HAND)]
    assert await told(readers, *map(archive.page, names)) == names
    assert len(processes()) == 1


@pytest.mark.parametrize("how", ["ends", "stalls"])
@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_a_page_is_blamed_alone(
    archive: Archive, how: str, run: Callable[[Coroutine[Any, Any, list[str]]], list[str]]
) -> None:
    """On both loops that there are."""
    bad = archive.killer() if how == "ends" else archive.staller()
    orders = [archive.page("a"), archive.page("b"), bad, archive.page("c"), archive.page("d")]
    first, second, blamed, *others = run(_told_once(*orders))
    assert [first, second, *others] == ["a", "b", "c", "d"]
    sentence = "The reader process died while reading the page."
    assert blamed == (sentence if how == "ends" else "Reading the page took more than 5 s.")
    assert processes() == []


async def _told_once(*orders: ReadRequest) -> list[str]:
    readers = ReaderPool(1, seconds=5)
    try:
        return await told(readers, *orders)
    finally:
        await readers.close()


async def test_no_page_is_blamed_when_the_whole_machine_was_stopped(archive: Archive) -> None:
    readers = ReaderPool(1, seconds=1)
    try:
        assert await told(readers, archive.page("a")) == ["a"]
        (reader,) = processes()
        os.kill(reader, signal.SIGSTOP)
        asked = asyncio.create_task(told(readers, archive.page("b")))
        await asyncio.sleep(0.05)
        time.sleep(2.5)  # noqa: ASYNC251 - this process does not run, either
        os.kill(reader, signal.SIGCONT)
        assert await asked == ["b"]
    finally:
        await readers.close()


async def test_pages_that_end_their_process_one_after_another(
    archive: Archive, readers: ReaderPool
) -> None:
    killer = archive.killer()
    found = await told(readers, killer, killer, archive.page("a"), killer)
    assert found[2] == "a"
    assert {found[0], found[1], found[3]} == {"The reader process died while reading the page."}


async def test_a_page_may_nest_as_deeply_as_its_process_survives(
    archive: Archive, readers: ReaderPool
) -> None:
    """What ends the process is blamed, also for what a model is to be shown; what does not is read."""
    deadly = archive.page("deadly", DEEP["cells that are not opened"])
    shown = ReadRequest(
        *_place(deadly), deadly.content_type, deadly.url, 200, get_input=GetInput(1_000, 1)
    )
    deep = archive.page("deep", DEEP["unclosed"])
    found = await told(readers, archive.page("a"), deadly, deep, shown, archive.page("b"))
    sentence = "The reader process died while reading the page."
    assert found == ["a", sentence, "deep", sentence, "b"]


async def test_a_page_that_is_not_there_costs_no_process(
    archive: Archive, readers: ReaderPool
) -> None:
    await told(readers, archive.page("a"))
    before = processes()
    lost, after = await told(readers, archive.lost(), archive.page("b"))
    assert lost.endswith(".")
    assert "archived elsewhere" in lost
    assert (after, processes()) == ("b", before)


async def test_who_has_nothing_to_read_has_no_segment_open(
    archive: Archive, readers: ReaderPool
) -> None:
    order = archive.page("a")
    assert await told(readers, order, order, order) == ["a", "a", "a"]
    (pid,) = processes()
    await until(lambda: str(archive.folder) not in str(psutil.Process(pid).open_files()))
    (archive.folder / "a").unlink()
    assert "archived elsewhere" in (await told(readers, order))[0]
    assert processes() == [pid]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_what_stops_the_whole_group_leaves_a_reader_to_whoever_asked(
    number: signal.Signals, archive: Archive, readers: ReaderPool
) -> None:
    pages = [archive.page(f"page{n}") for n in range(40)]
    await readers.read(archive.page("first"))  # so that one is there
    (process,) = processes()
    answers = readers.ask(pages)
    os.kill(process, number)
    await asyncio.gather(*answers)
    assert process in processes()


async def test_a_process_that_ends_with_nothing_to_do_is_nobodys_fault(
    archive: Archive, readers: ReaderPool
) -> None:
    await told(readers, archive.page("a"))
    (pid,) = processes()
    os.kill(pid, signal.SIGKILL)
    await until(lambda: not psutil.pid_exists(pid))
    assert await told(readers, archive.page("b")) == ["b"]


async def test_whoever_goes_away_leaves_the_others_their_answers(
    archive: Archive, readers: ReaderPool
) -> None:
    answers = readers.ask([archive.page("a"), archive.page("b"), archive.page("c")])
    answers[1].cancel()
    pages = [(await answers[0]).page, (await answers[2]).page]
    assert [page.metadata["title"] for page in pages if page] == ["a", "c"]
    assert await told(readers, archive.page("d")) == ["d"]


async def test_more_processes_are_started_for_more_pages(archive: Archive) -> None:
    readers = ReaderPool(2)
    try:
        assert await told(readers, archive.page("a")) == ["a"]
        assert len(processes()) == 1
        names = [f"page-{number}" for number in range(5 * ON_HAND)]
        assert await told(readers, *map(archive.page, names)) == names
        assert len(processes()) == 2
        await until(lambda: not readers.pids)
    finally:
        await readers.close()
    assert processes() == []


async def test_only_kinds_that_are_wanted_are_read(archive: Archive, readers: ReaderPool) -> None:
    order = archive.page("a")
    page = await readers.read(order)
    assert "contact" in {record.kind for record in page.records}
    wanted = ReadRequest(
        *_place(order), order.content_type, order.url, 200, kinds=frozenset(("faq",))
    )
    page = await readers.read(wanted)
    assert (page.records, page.kinds) == ([], ["faq"])


def test_kinds_are_known_by_name() -> None:
    assert wanted_kinds([]) is None
    assert wanted_kinds(["product", "contact"]) == frozenset(("product", "contact"))
    with pytest.raises(UsageError, match=r"unknown record kind 'prodct'; available: .*product"):
        wanted_kinds(["product", "prodct"])


def test_a_reader_whose_asker_was_killed_ends_without_a_word(archive: Archive) -> None:
    """The asker died while it started: it outlives that, and its answers reach nobody."""
    nobody, answers = os.pipe()
    os.close(nobody)
    with TemporaryFile() as shared:
        shared.truncate(ReaderProgress.SIZE)
        number = str(shared.fileno())
        ended = subprocess.run(
            [sys.executable, "-m", "messor.extraction.reader_process", str(MEMORY), number],
            input=framed(archive.page("a")),
            stdout=answers,
            stderr=subprocess.PIPE,
            pass_fds=(shared.fileno(),),
            timeout=PATIENCE,
            check=False,
        )
    os.close(answers)
    assert ended.stderr == b""


async def test_an_archive_that_is_made_later_is_read_by_the_same_process(tmp_path: Path) -> None:
    """A process locks itself up with the folder of its first page: one that was not there yet."""
    later = Archive(tmp_path / "archive")
    readers = ReaderPool(1)
    try:
        (answer,) = readers.ask([later.lost()])
        with pytest.raises(UnreadableError, match="no folder"):
            await answer
        later.folder.mkdir()
        (answer,) = readers.ask([later.page("kettle")])
        assert (await answer).page is not None
    finally:
        await readers.close()
