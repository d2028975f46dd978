"""The readers of main content that are compared: Messor's, and the libraries that are installed."""

from __future__ import annotations

import importlib
import importlib.util
import re
import time
from collections.abc import Callable, Sequence

from messor.content.lists import Lists
from messor.content.main import read_main
from messor.content.memory import Memory

Reader = Callable[[str, str], str]  # HTML and URL in, main text out
# Its licence forbids naming it in the pins; it is compared where someone installed it.
_UNPINNED = "pagesift"
_IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def messor_reader() -> Reader:
    """Our reader, with a memory as a reading process has it."""
    memory = Memory()
    return lambda html, url: read_main(html, url, Lists(memory=memory)).text


def readers() -> dict[str, Reader]:
    """Return every reader that can run here, ours first."""
    found = {"messor": messor_reader()}
    if importlib.util.find_spec("trafilatura"):
        extract = importlib.import_module("trafilatura").extract
        found["trafilatura"] = lambda html, _: extract(html, include_comments=False) or ""
    if importlib.util.find_spec(_UNPINNED):
        convert = importlib.import_module(_UNPINNED).convert
        found[_UNPINNED] = lambda html, url: _converted(convert, html, url)
    return found


def _converted(convert: Callable[..., object], html: str, url: str) -> str:
    document = convert(html, url=url, only_main_content=True)
    markdown = str(getattr(document, "markdown", "") or "")
    return _LINK.sub(r"\1", _IMAGE.sub("", markdown))


def read_all(reader: Reader, pages: Sequence[tuple[str, str]]) -> tuple[list[str], float]:
    """Return the texts of pages of HTML and URL, and the CPU milliseconds per 100 KB of HTML."""
    size = sum(len(html.encode()) for html, _ in pages) / 100_000
    started = time.process_time()
    texts = [reader(html, url) for html, url in pages]
    return texts, (time.process_time() - started) / size * 1000
