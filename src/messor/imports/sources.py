"""Sources: files, folders and streams, recognised by their first bytes.

This module only reads; which pages may be stored is decided elsewhere.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BufferedReader
from pathlib import Path

from messor.fetch.outcome import is_html
from messor.imports.addresses import mirrored_address
from messor.imports.har import read_har
from messor.imports.mhtml import read_mhtml
from messor.imports.originals import Originals
from messor.imports.saved import Items, PassedOver, SavedPage, Unreadable, dated, printable
from messor.imports.unzip import BROKEN_FILE, Unzipped
from messor.imports.warcs import read_warc
from messor.web.urls import Url, parse

PAGE_SUFFIXES = (".html", ".htm", ".xhtml", ".shtml", ".mhtml", ".mht")
ARCHIVE_SUFFIXES = (".warc", ".warc.gz", ".har")

_HEAD = 4096
_GZIP = b"\x1f\x8b"
_OTHER_ARCHIVES = (
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"7z\xbc\xaf",
    b"Rar!",
    b"\xfd7zXZ",
    b"BZh",
    b"\x28\xb5\x2f\xfd",
)
_UNPACK_FIRST = (
    "the file is a ZIP or another compressed archive, and only gzip is supported: extract it and "
    "import the folder"
)
_MAIL = re.compile(
    rb"(?:[A-Za-z][A-Za-z-]*:.*?^)?mime-version:", re.IGNORECASE | re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Source:
    """What to import: a file or folder, or an open stream such as an upload.

    `url` is a page's own URL, or the base of a folder; archives state their URLs themselves.
    """

    place: Path | BufferedReader
    url: str | None = None
    label: str | None = None

    @property
    def name(self) -> str:
        """For display and the ledger: only the last part of the path."""
        if self.label is not None or not isinstance(self.place, Path):
            return printable(self.label or "-")
        return printable(self.place.name or str(self.place.resolve()))

    def read(self, cap: int, originals: Originals | None = None) -> Items:
        """Everything in it; blocks while it reads. `originals` holds bodies read before it."""
        known = Originals() if originals is None else originals
        if isinstance(self.place, BufferedReader):
            return read_stream(self.place, self.name, cap, self.url, known)
        if self.place.is_dir():
            return _read_folder(self.place, cap, self.url, known)
        return _read_file(self.place, printable(str(self.place)), cap, self.url, known)


def read_stream(
    stream: BufferedReader, name: str, cap: int, url: str | None, originals: Originals
) -> Items:
    """The pages of one open file of any format."""
    try:
        if stream.peek(2).startswith(_GZIP):
            stream = BufferedReader(Unzipped(stream))
        head = stream.peek(_HEAD)[:_HEAD]
        if head.startswith(_OTHER_ARCHIVES):
            yield Unreadable(name, _UNPACK_FIRST)
        elif head.startswith(b"WARC/"):
            yield from read_warc(stream, name, cap, originals)
        elif head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
            yield from read_har(stream, name, cap)
        elif _MAIL.match(head):
            yield read_mhtml(stream, name, cap, url)
        else:
            yield _read_page(stream, name, cap, url)
    except BROKEN_FILE as error:
        yield Unreadable(name, f"the file cannot be decompressed: {error}")
    except OSError as error:
        yield Unreadable(name, f"the file cannot be read: {error.strerror or error}")


def _read_page(
    stream: BufferedReader, name: str, cap: int, url: str | None
) -> SavedPage | Unreadable:
    body = stream.read(cap + 1)
    if len(body) > cap:
        return Unreadable(name, f"the page is larger than {cap} bytes", url)
    if not body.strip():
        return Unreadable(name, "the file is empty", url)
    return SavedPage(name, body, url)


def _read_file(path: Path, name: str, cap: int, url: str | None, originals: Originals) -> Items:
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            yield Unreadable(name, "this is neither a file nor a folder")
            return
        with path.open("rb") as stream:
            saved_at = datetime.fromtimestamp(found.st_mtime, UTC)
            yield from dated(read_stream(stream, name, cap, url, originals), saved_at)
    except FileNotFoundError:
        yield Unreadable(name, "there is no such file")
    except (OSError, OverflowError, ValueError) as error:
        yield Unreadable(name, f"the file cannot be read: {error}")


def _read_folder(folder: Path, cap: int, base_url: str | None, originals: Originals) -> Items:
    """Every page and archive below a folder; links that lead outside are skipped."""
    root = folder.resolve()
    base = parse(base_url) if base_url else None
    if base_url and base is None:
        yield Unreadable(printable(str(folder)), f"{base_url[:200]!r} is not a web address")
        return
    closed: list[OSError] = []
    for path in _files(folder, closed):
        name = printable(str(path))
        if path.is_symlink() and not _is_below(path, root):
            yield Unreadable(name, "this is a link out of the folder")
        elif not _may_hold_pages(path):
            yield PassedOver()
        else:
            address = _address(base, path.relative_to(folder))
            yield from _read_file(path, name, cap, address, originals)
    for error in closed:
        yield Unreadable(printable(str(error.filename)), f"the folder cannot be read: {error}")


def _files(folder: Path, closed: list[OSError]) -> Iterator[Path]:
    """Files in a stable order.

    Links to folders are not followed, unreadable folders are reported.
    """
    for place, folders, files in os.walk(folder, onerror=closed.append, followlinks=False):
        folders.sort()
        for file in sorted(files):
            yield Path(place, file)


def _is_below(path: Path, root: Path) -> bool:
    try:
        return path.resolve().is_relative_to(root)
    except (OSError, RuntimeError):  # a link to itself
        return False


def _may_hold_pages(path: Path) -> bool:
    """Whether a name suggests a page.

    Mirrors also store pages without a suffix, or as `view.php`.
    """
    if path.name.lower().endswith(PAGE_SUFFIXES + ARCHIVE_SUFFIXES):
        return True
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return False
        with path.open("rb") as file:
            return is_html(None, file.read(512))
    except OSError:
        return False


def _address(base: Url | None, path: Path) -> str | None:
    return None if base is None else mirrored_address(base, path)
