"""One gzip member assembled from separately compressed blocks.

Each block ends with a full flush on a byte boundary and refers to nothing before it, so shared
blocks are compressed once and a page only pays for its own part. The result is a single member,
which every client reads to its end.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from isal import isal_zlib

_HEADER = bytes((0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255))
_RAW_DEFLATE = -15
# An empty stored block with the final bit set: ends the deflate stream after any flushed block.
_END = bytes((1, 0, 0, 0xFF, 0xFF))


def deflate(plain: bytes) -> bytes:
    """The plain bytes as whole deflate blocks, none of them final."""
    packer = isal_zlib.compressobj(level=1, wbits=_RAW_DEFLATE)
    packed: bytes = packer.compress(plain) + packer.flush(isal_zlib.Z_FULL_FLUSH)
    return packed


@dataclass(frozen=True, slots=True)
class Block:
    plain: bytes
    packed: bytes

    @classmethod
    def of(cls, text: str) -> Block:
        plain = text.encode()
        return cls(plain, deflate(plain))


def checksum(plain: bytes) -> bytes:
    """The eight trailing bytes of a gzip member: CRC-32 and length."""
    return struct.pack("<II", crc32(plain), len(plain) & 0xFFFFFFFF)


def join(packed: tuple[bytes, ...], trailer: bytes) -> bytes:
    return b"".join((_HEADER, *packed, _END, trailer))


def start() -> bytes:
    """The beginning of a member that is sent piece by piece."""
    return _HEADER


def end(crc: int, length: int) -> bytes:
    """Its end, given the CRC-32 and the length of all that was sent."""
    return _END + struct.pack("<II", crc, length & 0xFFFFFFFF)


def crc32(plain: bytes, before: int = 0) -> int:
    crc: int = isal_zlib.crc32(plain, before)
    return crc


def compress(plain: bytes) -> bytes:
    return join((deflate(plain),), checksum(plain))


def decompress(member: bytes) -> bytes:
    plain: bytes = isal_zlib.decompress(member, wbits=31)
    return plain
