"""Sizes of pictures from their headers, and bytes that only pretend to be pictures."""

from __future__ import annotations

import random
import struct
import zlib

import pytest

from messor.web.image_headers import ImageHeader, image_header


def png(width: int = 640, height: int = 480) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        mark = zlib.crc32(kind + body)
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", mark)

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IEND", b"")


def gif(width: int = 640, height: int = 480) -> bytes:
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0, 0, 0) + b";"


def jpeg(width: int = 640, height: int = 480, before: bytes = b"") -> bytes:
    app = b"\xff\xe0\x00\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0"
    table = b"\xff\xc4\x00\x05abc"  # looks like a frame, and is none
    frame = b"\xff\xff\xc2" + struct.pack(">HBHHB", 11, 8, height, width, 1) + b"\x01\x11\0"
    return b"\xff\xd8" + app + before + table + frame + b"\xff\xda\x00\x02"


def webp(form: bytes, body: bytes) -> bytes:
    chunk = form + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", len(chunk) + 4) + b"WEBP" + chunk


def box(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I4s", len(body) + 8, kind) + body


def avif(width: int = 640, height: int = 480, *, primary: int = 2) -> bytes:
    """A thumbnail and a picture; the primary item says which counts."""
    full = b"\0\0\0\0"
    small = box(b"ispe", full + struct.pack(">II", 4000, 3000))
    large = box(b"ispe", full + struct.pack(">II", width, height))
    uses = full + struct.pack(">IHBBHBB", 2, 1, 1, 1, 2, 1, 2)
    properties = box(b"iprp", box(b"ipco", small + large) + box(b"ipma", uses))
    meta = box(b"meta", full + box(b"pitm", full + struct.pack(">H", primary)) + properties)
    return box(b"ftyp", b"mif1\0\0\0\0miafavif") + meta


SVG = '<?xml version="1.0"?><!-- a <svg> --><!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="x" {}>'
VP8 = webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 640 | 0x4000, 480))
VP8L = webp(b"VP8L", b"\x2f" + struct.pack("<I", 639 | 479 << 14))
VP8X = webp(b"VP8X", b"\0\0\0\0" + (639).to_bytes(3, "little") + (479).to_bytes(3, "little"))
SOUND = {
    "image/png": [png()],
    "image/gif": [gif(), gif().replace(b"89a", b"87a")],
    "image/jpeg": [jpeg(), jpeg(before=b"\xff\xe1\xff\xff" + b"\xff\xd8\xff" * 21844 + b"x")],
    "image/webp": [VP8, VP8L, VP8X],
    "image/avif": [avif()],
    "image/svg+xml": [
        SVG.format('width="640" height="480px"').encode(),
        b"\xef\xbb\xbf" + SVG.format('viewBox="0 0 640 480" width="100%"').encode(),
        SVG.format("height='480' width='480pt'").encode(),
    ],
}
EVERY = [(kind, data) for kind, samples in SOUND.items() for data in samples]


@pytest.mark.parametrize("kind, data", EVERY)
def test_the_size_is_read(kind: str, data: bytes) -> None:
    assert image_header(data) == ImageHeader(kind, 640, 480)


def test_the_primary_item_counts_and_failing_that_the_largest() -> None:
    assert image_header(avif(primary=1)) == ImageHeader("image/avif", 4000, 3000)
    assert image_header(avif(primary=9)) == ImageHeader("image/avif", 4000, 3000)


@pytest.mark.parametrize("kind, data", EVERY)
def test_what_breaks_off_is_no_picture_or_the_same(kind: str, data: bytes) -> None:
    for length in range(min(len(data), 400)):
        assert image_header(data[:length]) in (None, ImageHeader(kind, 640, 480))


@pytest.mark.parametrize("kind, data", EVERY)
def test_broken_bytes_never_raise(kind: str, data: bytes) -> None:
    chance = random.Random(kind)
    for _ in range(500):
        broken = bytearray(data[:2_000])
        for _ in range(chance.randint(1, 8)):
            broken[chance.randrange(len(broken))] = chance.choice((0, 1, 0x7F, 0xFF))
        found = image_header(bytes(broken))
        assert found is None or min(found.width, found.height) > 0


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<html><svg width='1' height='1'></svg></html>",
        b"<!DOCTYPE html><p>an error page sent as a picture",
        png(0, 5),
        png(2**31, 5),
        gif(0, 0),
        jpeg(height=0),
        b"\xff\xd8" + b"\xff\xe0\x00\x00" * 100,
        b"\xff\xd8" + b"\xff" * 100_000,
        b"\xff\xd8" + b"\xff\xe0\x00\x02" * 100_000,
        box(b"ftyp", b"avif") + struct.pack(">I4s", 0, b"meta"),
        box(b"ftyp", b"avif") + box(b"free", b"") * 100_000,
        box(b"ftyp", b"heic\0\0\0\0heic"),
        SVG.format('width="0" height="0"').encode(),
        SVG.format('width="1e400" height="9"').encode(),
        SVG.format('viewBox="0 0 . ."').encode(),
        b"<!-- " * 100_000,
        b"<svg " + b"a='b' " * 100_000,
    ],
)
def test_what_is_no_picture_has_no_size(data: bytes) -> None:
    assert image_header(data) is None
