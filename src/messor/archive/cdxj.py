"""CDXJ: the index of a WARC, one line per record, sorted by URL and time, as replay tools read it."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import BinaryIO
from urllib.parse import urlsplit

import msgspec
from isal import isal_zlib

from messor.archive.records import ArchiveRecord, parse
from messor.errors import NotFoundError

CHUNK = 1 << 20
_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})")
_TYPE = re.compile(rb"\r\ncontent-type:[ \t]*([^;\r\n]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Indexed:
    """A record of the WARC and where it is."""

    record: ArchiveRecord
    offset: int
    length: int

    @property
    def status(self) -> int:
        found = _STATUS.match(self.record.http)
        return int(found[1]) if found else 0

    @property
    def mime(self) -> str:
        found = _TYPE.search(self.record.http)
        return found[1].decode("latin-1").strip().lower() if found else "unk"

    @property
    def moment(self) -> str:
        """The time in digits, as an index has it."""
        return re.sub(r"\D", "", self.record.date)[:14]

    def line(self, filename: str) -> str:
        """Its line in the index: key, time and fields."""
        digest = base64.b32encode(self.record.digest).decode()
        fields = {
            "url": self.record.url,
            "mime": self.mime,
            "status": str(self.status),
            "digest": f"sha1:{digest}",
            "length": str(self.length),
            "offset": str(self.offset),
            "filename": filename,
        }
        return f"{key_of(self.record.url)} {self.moment} {msgspec.json.encode(fields).decode()}\n"


def key_of(url: str) -> str:
    """The key of a URL in a CDXJ index (SURT): host reversed, then path and query, in lower case."""
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    default = {"http": 80, "https": 443}.get(parts.scheme)
    port = f":{parts.port}" if parts.port not in (None, default) else ""
    path = re.sub(r"(?<=.)/$", "", re.sub(r"/{2,}", "/", parts.path or "/"))
    query = f"?{'&'.join(sorted(parts.query.split('&')))}" if parts.query else ""
    return f"{','.join(reversed(host.split('.')))}{port}){(path + query).lower()}"


def scan(file: BinaryIO) -> Iterator[Indexed]:
    """The response and revisit records of a WARC of one gzip member each."""
    offset, rest = 0, b""
    while True:
        unpacker, parts, length = isal_zlib.decompressobj(wbits=31), [], 0
        while not unpacker.eof:
            chunk = rest or file.read(CHUNK)
            if not chunk:
                return
            parts.append(unpacker.decompress(chunk))
            length += len(chunk) - len(unpacker.unused_data)
            rest = unpacker.unused_data
        found = _parsed(b"".join(parts))
        if found is not None:
            yield Indexed(found, offset, length)
        offset += length


def _parsed(data: bytes) -> ArchiveRecord | None:
    try:
        return parse(data)
    except (NotFoundError, KeyError):  # the record that opens the file
        return None


def cdxj(content: bytes, url: str) -> bytes:
    """The index of a WARC in memory, which is or will be the object at a URL."""
    filename = url.rpartition("/")[2]
    return "".join(sorted(each.line(filename) for each in scan(BytesIO(content)))).encode()


def index_of(url: str) -> str:
    """Where the index of an object is: beside it."""
    return f"{url}.cdxj"
