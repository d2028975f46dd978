"""Exports as steps: start, wait, download with ranges, and check the digest of the file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from messor_client.errors import ExportFailedError, UnreachableError
from messor_client.models import Export
from messor_client.wire import Call, Pause, Retries, Steps, send

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0  # seconds between looks at an export
_ROUTE = "/api/v1/exports"


def export_file(noun: str, path: Path, how: Mapping[str, Any], retries: Retries) -> Steps[Export]:
    """Start an export, wait for it and download it."""
    begin = Call(method="POST", path=_ROUTE, answer=Export, body={"noun": noun, **how})
    export = yield from send(begin, retries)
    pause = FIRST_PAUSE
    while export.state in ("queued", "running"):
        yield Pause(pause)
        pause = min(pause * 1.5, LONGEST_PAUSE)
        look = Call(method="GET", path=f"{_ROUTE}/{export.id}", answer=Export)
        export = yield from send(look, retries)
    return (yield from download_export(export, path, retries))


def download_export(export: Export, path: Path, retries: Retries) -> Steps[Export]:
    """Download a finished export's file; an interrupted download continues."""
    if export.state != "done" or export.file_hash is None:
        raise ExportFailedError(
            f"Export {export.id} is {export.state}: {export.error or 'no file'}."
        )
    part = path.with_name(f"{path.name}.part")
    for attempt in range(retries.times + 1):
        headers = {}
        if part.exists() and 0 < part.stat().st_size < (export.file_bytes or 0):
            headers = {
                "Range": f"bytes={part.stat().st_size}-",
                "If-Range": f'"{export.file_hash}"',
            }
        get = Call(
            method="GET",
            path=f"{_ROUTE}/{export.id}/file",
            answer=bytes,
            headers=headers,
            into=part,
        )
        try:
            yield from send(get, Retries(times=0))
        except UnreachableError:
            if attempt == retries.times:
                raise
            yield Pause(retries.first_pause * 2**attempt)
            continue
        break
    _require_digest(part, export.file_hash)
    part.replace(path)
    return export


def _require_digest(part: Path, expected: str) -> None:
    with part.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != expected:
        part.unlink()
        raise ExportFailedError("The downloaded file differs from the export; download it again.")
