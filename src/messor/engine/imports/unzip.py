"""Gzip files as a stream that gives every byte it can before it tells of damage.

The library's own reader drops what it unpacked just before the place where a file was cut, which
may be the last whole records.
"""

from __future__ import annotations

import io
import zlib
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_PIECE = 65_536

BROKEN_FILE = (EOFError, zlib.error)


class Unzipped(io.RawIOBase):
    """The bytes of a gzip file of one or many members; raises BROKEN_FILE where it is damaged."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._packed = b""
        self._member: zlib._Decompress | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """One piece of what is packed; the caller buffers."""
        view = memoryview(buffer).cast("B")
        while self._begin():
            assert self._member is not None
            if not self._refill():
                raise EOFError("the packed file ends before its time")
            piece = self._member.decompress(self._packed, len(view))
            self._packed = self._member.unconsumed_tail
            if self._member.eof:
                self._packed, self._member = self._member.unused_data, None
            if piece:
                view[: len(piece)] = piece
                return len(piece)
        return 0

    def _begin(self) -> bool:
        """Be within a member; false when the file ends before the next."""
        while self._member is None:
            if not self._refill():
                return False
            self._packed = self._packed.lstrip(b"\0")  # some writers pad to a block
            if self._packed:
                self._member = zlib.decompressobj(wbits=31)
        return True

    def _refill(self) -> bool:
        self._packed = self._packed or self._file.read(_PIECE)
        return bool(self._packed)
