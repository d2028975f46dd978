"""WACZ files (version 1.1.1): a WARC with its index and list of pages, replayable by itself."""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import msgspec

from messor import __version__
from messor.archive.cdxj import Indexed, scan
from messor.exports.columns import Column

DATA = "data.warc.gz"
CHUNK = 1 << 20
MAX_TITLE = 65_536  # bytes searched for a title
FIXED = (1980, 1, 1, 0, 0, 0)
_TITLE = re.compile(rb"<title[^>]*>([^<]{0,500})", re.IGNORECASE)


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _page(found: Indexed) -> dict[str, str] | None:
    """A record's line in the list of pages; None for what people do not open."""
    record = found.record
    if found.status != 200 or found.mime not in ("text/html", "application/xhtml+xml"):
        return None
    title = _TITLE.search(record.body[:MAX_TITLE])
    text = html.unescape(title[1].decode("utf-8", "replace")).strip() if title else ""
    return {"url": record.url, "ts": record.date, "title": text or record.url}


def write(source: Path, target: Path, noun: str, _: tuple[Column, ...]) -> None:
    """An export as one file."""
    package_of(source, target, f"An export of {noun}")


def package_of(
    source: Path,
    target: Path,
    title: str,
    further: Mapping[str, bytes] = MappingProxyType({}),
    comment: bytes = b"",
) -> None:
    """Put the WARC, its index, the pages, further files and the description into one file."""
    lines, pages = [], [b'{"format": "json-pages-1.0", "id": "pages", "title": "All pages"}\n']
    first = None
    with source.open("rb") as file:
        for each in scan(file):
            lines.append(each.line(DATA))
            if (page := _page(each)) is not None:
                first = first or page
                pages.append(msgspec.json.encode({"id": str(len(pages)), **page}) + b"\n")
    lines.sort()
    with ZipFile(target, "w", ZIP_STORED) as package:
        resources = [
            _copy(package, source, f"archive/{DATA}"),
            _add(package, "indexes/index.cdx", "".join(lines).encode()),
            _add(package, "pages/pages.jsonl", b"".join(pages)),
            *(_add(package, path, content) for path, content in further.items()),
        ]
        _describe(package, title, resources, first or {})
        package.comment = comment


def _describe(
    package: ZipFile, title: str, resources: list[dict[str, object]], first: dict[str, str]
) -> None:
    described = {
        "profile": "data-package",
        "wacz_version": "1.1.1",
        "title": title,
        "software": f"Messor {__version__}",
        "created": now(),
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
