"""Small linked files that are not pages: a PDF and a PNG."""

from __future__ import annotations

import struct
import zlib

from simweb.answers import SimResponse


def pdf(text: str) -> SimResponse:
    """A valid PDF of one page with one line of text."""
    line = text.encode("latin-1", "replace").replace(b"(", b"").replace(b")", b"")
    content = b"BT /F1 18 Tf 72 720 Td (%b) Tj ET" % line
    objects = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources 6 0 R>>",
        b"<</Length %d>>stream\n%b\nendstream" % (len(content), content),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        b"<</Font<</F1 5 0 R>>>>",
    )
    body = b"%PDF-1.4\n"
    offsets = []
    for number, inner in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj%b endobj\n" % (number, inner)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    body += b"xref\n0 7\n0000000000 65535 f \n%btrailer<</Size 7/Root 1 0 R>>\n" % table
    body += b"startxref\n%d\n%%%%EOF\n" % body.index(b"xref\n")
    return SimResponse(200, (("Content-Type", "application/pdf"),), body)


def png(hue: float, side: int = 16) -> SimResponse:
    """A square of one colour, drawn from `hue` in [0, 1)."""
    colour = int(hue * (1 << 24)).to_bytes(3, "big")
    rows = (b"\0" + colour * side) * side
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    body = b"\x89PNG\r\n\x1a\n" + b"".join(
        _chunk(name, data)
        for name, data in ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    )
    return SimResponse(200, (("Content-Type", "image/png"),), body)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
