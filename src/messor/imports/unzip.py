"""Gzip decompression that yields every readable byte before it reports damage.

The standard library's reader drops what it decompressed just before a truncation, which may be the
last whole records. It is also unbounded: a few kilobytes may expand to fill any memory for hours,
so this reader stops at a ratio no saved page reaches.
"""

from __future__ import annotations

import io
import zlib
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_PIECE = 65_536
# Pages shrink to a tenth, the same page many times over to a hundredth; gzip's limit is 1 to 1,032.
_MAX_RATIO = 200
_FREE_BYTES = 32_000_000  # always allowed, whatever the ratio
_MAX_EMPTY = 1_000  # consecutive members without a byte


class BombError(Exception):
    """A file expands out of proportion to its size."""


BROKEN_FILE = (EOFError, zlib.error, BombError)


class Unzipped(io.RawIOBase):
    """The bytes of a gzip file of one or many members.

    BROKEN_FILE where it is damaged or a bomb.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._packed = b""
        self._member: zlib._Decompress | None = None
        self._taken = self._given = self._empty = (
            0  # bytes compressed, bytes decompressed, empty members
        )

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Decompress one piece; the caller buffers."""
        view = memoryview(buffer).cast("B")
        while self._begin():
            assert self._member is not None
            if not self._refill():
                raise EOFError("the compressed file ends prematurely")
            piece = self._member.decompress(self._packed, len(view))
            self._packed = self._member.unconsumed_tail
            if self._member.eof:
                self._packed, self._member = self._member.unused_data, None
            self._judge(len(piece))
            if piece:
                view[: len(piece)] = piece
                return len(piece)
        return 0

    def _judge(self, size: int) -> None:
        """Count decompressed bytes; raises BombError if out of proportion."""
        self._given += size
        self._empty = 0 if size else self._empty + 1
        if self._given > _FREE_BYTES and self._given > _MAX_RATIO * self._taken:
            raise BombError(f"it expands to more than {_MAX_RATIO} times its size")
        if self._empty > _MAX_EMPTY:
            raise BombError(f"it has more than {_MAX_EMPTY} empty parts in a row")

    def _begin(self) -> bool:
        """Enter a member; false if the file ends before the next."""
        while self._member is None:
            if not self._refill():
                return False
            self._packed = self._packed.lstrip(b"\0")  # some writers pad to a block
            if self._packed:
                self._member = zlib.decompressobj(wbits=31)
        return True

    def _refill(self) -> bool:
        if not self._packed:
            self._packed = self._file.read(_PIECE)
            self._taken += len(self._packed)
        return bool(self._packed)
