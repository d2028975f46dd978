"""WACZ files (version 1.1.1): a WARC with its index and list of pages, replayable by itself."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import msgspec
from isal import isal_zlib

from messor import __version__
from messor.archive.records import ArchiveRecord, parse
from messor.errors import NotFoundError
from messor.exports.columns import Column

DATA = "data.warc.gz"
CHUNK = 1 << 20
MAX_TITLE = 65_536  # bytes searched for a title
FIXED = (1980, 1, 1, 0, 0, 0)
_TITLE = re.compile(rb"<title[^>]*>([^<]{0,500})", re.IGNORECASE)
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

    def line(self) -> str:
        """Its line in the index: key, time and fields."""
        digest = base64.b32encode(self.record.digest).decode()
        fields = {
            "url": self.record.url,
            "mime": self.mime,
            "status": str(self.status),
            "digest": f"sha1:{digest}",
            "length": str(self.length),
            "offset": str(self.offset),
            "filename": DATA,
        }
        return f"{key_of(self.record.url)} {self.moment} {msgspec.json.encode(fields).decode()}\n"

    def page(self) -> dict[str, str] | None:
        """Its line in the list of pages; None for what people do not open."""
        if self.status != 200 or self.mime not in ("text/html", "application/xhtml+xml"):
            return None
        found = _TITLE.search(self.record.body[:MAX_TITLE])
        title = html.unescape(found[1].decode("utf-8", "replace")).strip() if found else ""
        return {"url": self.record.url, "ts": self.record.date, "title": title or self.record.url}


def key_of(url: str) -> str:
    """The key of a URL in a CDXJ index (SURT): host reversed, then path and query, in lower case."""
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    default = {"http": 80, "https": 443}.get(parts.scheme)
    port = f":{parts.port}" if parts.port not in (None, default) else ""
    path = re.sub(r"(?<=.)/$", "", re.sub(r"/{2,}", "/", parts.path or "/"))
    query = f"?{'&'.join(sorted(parts.query.split('&')))}" if parts.query else ""
    return f"{','.join(reversed(host.split('.')))}{port}){(path + query).lower()}"


def scan(source: Path) -> Iterator[Indexed]:
    """The records of a WARC of one gzip member each."""
    with source.open("rb") as file:
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


def write(source: Path, target: Path, noun: str, _: tuple[Column, ...]) -> None:
    """Put the WARC, its index, the pages and the description into one file."""
    lines, pages = [], [b'{"format": "json-pages-1.0", "id": "pages", "title": "All pages"}\n']
    first = None
    for each in scan(source):
        lines.append(each.line())
        if (page := each.page()) is not None:
            first = first or page
            pages.append(msgspec.json.encode({"id": str(len(pages)), **page}) + b"\n")
    lines.sort()
    with ZipFile(target, "w", ZIP_STORED) as package:
        resources = [
            _copy(package, source, f"archive/{DATA}"),
            _add(package, "indexes/index.cdx", "".join(lines).encode()),
            _add(package, "pages/pages.jsonl", b"".join(pages)),
        ]
        _describe(package, noun, resources, first or {})


def _describe(
    package: ZipFile, noun: str, resources: list[dict[str, object]], first: dict[str, str]
) -> None:
    described = {
        "profile": "data-package",
        "wacz_version": "1.1.1",
        "title": f"An export of {noun}",
        "software": f"Messor {__version__}",
        "created": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "resources": resources,
    }
    if first:
        described |= {"mainPageUrl": first["url"], "mainPageDate": first["ts"]}
    about = msgspec.json.format(msgspec.json.encode(described), indent=2)
    _add(package, "datapackage.json", about)
    digest = {"path": "datapackage.json", "hash": f"sha256:{hashlib.sha256(about).hexdigest()}"}
    _add(package, "datapackage-digest.json", msgspec.json.encode(digest))


def _copy(package: ZipFile, source: Path, path: str) -> dict[str, object]:
    """Add the WARC as it is: its records must be found by their offsets."""
    digest, size = hashlib.sha256(), 0
    with source.open("rb") as file, package.open(ZipInfo(path, FIXED), "w", force_zip64=True) as to:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
            size += to.write(chunk)
    return _resource(path, digest.hexdigest(), size)


def _add(package: ZipFile, path: str, content: bytes) -> dict[str, object]:
    part = ZipInfo(path, FIXED)
    part.compress_type = ZIP_DEFLATED
    package.writestr(part, content)
    return _resource(path, hashlib.sha256(content).hexdigest(), len(content))


def _resource(path: str, digest: str, size: int) -> dict[str, object]:
    name = path.rpartition("/")[2]
    return {"name": name, "path": path, "hash": f"sha256:{digest}", "bytes": size}
