"""Encloses archived records in the requests to readers: these have no network of their own.

Records in this machine's folder are read by the readers themselves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec

from messor.archive.location import is_remote
from messor.archive.objects import ArchiveAwayError
from messor.archive.storage import Archive
from messor.extraction.reader_protocol import ReadRequest, UnreadableError

Enclosed = ReadRequest | ArchiveAwayError | UnreadableError


async def enclose(archive: Archive, request: ReadRequest) -> ReadRequest:
    """One request with its record; raises what keeps it from being read."""
    (enclosed,) = await enclose_all(archive, [request])
    if isinstance(enclosed, Exception):
        raise enclosed
    return enclosed


async def enclose_all(archive: Archive, requests: Sequence[ReadRequest]) -> list[Enclosed]:
    """The requests with their records, or the reasons why there is none."""
    if not any(is_remote(request.segment) for request in requests):
        return [*requests]
    return await asyncio.to_thread(_enclose, archive, requests)


def _enclose(archive: Archive, requests: Sequence[ReadRequest]) -> list[Enclosed]:
    # Readers are confined to this folder, and need it for that.
    archive.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found: list[Enclosed] = []
    away: ArchiveAwayError | None = None
    for request in requests:
        if not is_remote(request.segment):
            found.append(request)
        elif away is not None:
            found.append(away)  # one time-out is enough
        else:
            found.append(_with_record(archive, request))
            if isinstance(found[-1], ArchiveAwayError):
                away = found[-1]
    return found


def _with_record(archive: Archive, request: ReadRequest) -> Enclosed:
    try:
        stored = archive.read(request.segment, request.offset, request.length)
    except ArchiveAwayError as error:
        return error
    except FileNotFoundError:
        return UnreadableError(f"The object {request.segment} does not exist.")
    return msgspec.structs.replace(request, stored=stored)
