"""Processes that read pages are locked up when they do: the pages' reader here tries to get out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from messor.crawl.sandboxed_reader import SandboxedReader

ATTEMPTS = """
import os, socket
def tried():
    done = []
    for name, act in {
        "connected": socket.socket,
        "read": lambda: open("/etc/passwd").read(),
        "forked": lambda: os.fork() or os._exit(0),
    }.items():
        try:
            act()
        except PermissionError:
            continue
        done.append(name)
    return ", ".join(done) or "nothing"
"""
# The keeper's fresh process for one page.
SANDBOXED = """
import msgspec
from messor.crawl import sandboxed_reader
from messor.web.html import PageReading
sandboxed_reader.read_page = lambda html, url, **_: PageReading(url=url, base=url, title=tried())
order = msgspec.msgpack.encode(sandboxed_reader._Order("http://a.example/", "agent", 5, "<p>"))
answer, is_read = sandboxed_reader._parse_in_child(order, sandboxed_reader.MEMORY)
page = msgspec.msgpack.decode(answer, type=sandboxed_reader.SandboxedPage)
print(page.reading.title if is_read else "died")
"""
# The same for one document.
CONVERTING = """
import msgspec
from messor.crawl import sandboxed_reader
from messor.web.document_formats import DocumentFormat
sandboxed_reader.to_html = lambda *_: tried()
order = sandboxed_reader._Order("http://a.example/", "agent", 5, "", b"%PDF-", DocumentFormat.PDF)
answer, is_read = sandboxed_reader._parse_in_child(msgspec.msgpack.encode(order), sandboxed_reader.MEMORY)
print(msgspec.msgpack.decode(answer, type=sandboxed_reader.SandboxedPage).html if is_read else "died")
"""
# A reading process of extraction, given one order.
READING = """
import os, sys
from pathlib import Path
from messor.extraction import reader_process as reader
from messor.extraction.reader_protocol import ReadRequest, ReadResult, framed
def read(order, parsers, memory):
    print(tried(), file=sys.stderr)
    return ReadResult(fault="looked")
reader.read = read
folder = sys.argv[1]
with (Path(folder) / "progress").open("w+b") as file:
    file.truncate(4096)
    source, target = os.pipe()
    os.write(target, framed(ReadRequest(folder=folder, segment="", offset=0, length=0, content_type=None,
                                   url="x", status=200)))
    os.close(target)
    os.dup2(source, 0)
    sys.argv = ["reader", str(1 << 31), str(file.fileno())]
    reader.main()
"""

LEAVING = "from messor.core import sandbox; print(sandbox.leave_network())"


def said(script: str, *given: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", ATTEMPTS + script, *given],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("script", [SANDBOXED, CONVERTING], ids=["page", "document"])
def test_a_page_that_takes_over_its_sandbox_gets_nowhere(script: str) -> None:
    done = said(script)
    assert done.stdout.split("\n")[0] == "nothing", done.stderr


def test_a_page_that_takes_over_its_reader_gets_nowhere(tmp_path: Path) -> None:
    done = said(READING, str(tmp_path))
    assert done.stderr.strip() == "nothing"


async def test_the_sandbox_keeper_has_no_network() -> None:
    reader = SandboxedReader(agent="agent")
    try:
        await reader.read("<title>x</title>", "http://a.example/")
        (keeper,) = reader._idle
        try:
            network = os.readlink(f"/proc/{keeper.pid}/ns/net")  # noqa: PTH115 - it is no path
        except PermissionError:
            pytest.skip("nobody may look at another's network here")
    finally:
        await reader.close()
    if said(LEAVING).stdout.strip() != "True":
        pytest.skip("nobody may make a network here")
    assert network != os.readlink("/proc/self/ns/net")  # noqa: PTH115 - it is no path
