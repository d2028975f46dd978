"""Files made to fill the memory of whoever imports them: refused with a sentence, soon and small."""

from __future__ import annotations

import gzip
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from isal import isal_zlib

MOST_MEGABYTES = 200
MOST_SECONDS = 10.0
MB = 1_000_000
ONE = "https://one.test/"

# Reads a file as an import does, and tells the memory that took beyond a small file's.
PROBE = """
import re, sys, time
from pathlib import Path
from messor.imports.sources import Source
from messor.imports.saved import Damage, Unreadable
def peak():  # not ru_maxrss, which a process has from its parent
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) // 1000
small = Path(sys.argv[1]).with_suffix(".small")
small.write_bytes(b"<p>small")
list(Source(small, "https://one.test/").read(20_000_000))
before, started = peak(), time.process_time()
said = []
for item in Source(Path(sys.argv[1]), "https://one.test/").read(20_000_000):
    if isinstance(item, (Damage, Unreadable)) and len(said) < 20:
        said.append(item.reason)
print(peak() - before, time.process_time() - started, *said[-1:], sep="\\t")
"""


def _packed(head: bytes, piece: bytes, times: int, tail: bytes = b"") -> bytes:
    """A gzip file of a piece many times over: a block of it is compressed once, and repeated."""
    block = piece * (MB // len(piece) + 1)
    count = max(1, times * len(piece) // len(block))
    check = zlib.crc32(head)
    for _ in range(count):
        check = isal_zlib.crc32(block, check)
    size = len(head) + count * len(block) + len(tail)
    start = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
    end = struct.pack("<LL", zlib.crc32(tail, check), size & 0xFFFFFFFF)
    blocks = _deflated(block, zlib.Z_FULL_FLUSH) * count
    return (
        start + _deflated(head, zlib.Z_FULL_FLUSH) + blocks + _deflated(tail, zlib.Z_FINISH) + end
    )


def _deflated(data: bytes, ending: int) -> bytes:
    """Compressed by itself, so that anything may stand before and after it."""
    packer = zlib.compressobj(9, wbits=-15)
    return packer.compress(data) + packer.flush(ending)


def test_a_packed_file_is_what_gzip_would_unpack() -> None:
    unpacked = gzip.decompress(_packed(b"head", b"piece", MB, b"tail"))
    assert unpacked.strip(b"piecheadtl") == b""
    assert unpacked.startswith(b"headpiecepiece")
    assert unpacked.endswith(b"piecetail")
    assert len(unpacked) > 4 * MB


def _plain(head: bytes, piece: bytes, times: int, tail: bytes = b"") -> bytes:
    return head + piece * times + tail


def _warc_record(answer: bytes) -> bytes:
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + answer
    return WARC + b"Content-Length: %d\r\n\r\n" % len(answer) + answer + b"\r\n\r\n"


ENTRIES = b'{"log":{"version":"1.2","entries":['
PAGE = (
    b'{"request":{"method":"GET","url":"https://one.test/a"},"response":{"status":200,'
    b'"content":{"mimeType":"text/html","text":"'
)
WARC = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://one.test/\r\n"
MAIL = b'MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary="b"\r\n\r\n'
HTML_PART = b"\r\n--b\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n\r\n"

BOMBS: dict[str, Callable[[], bytes]] = {
    # The one that was found: 192 KB, 200 MB of entries, 5 GB of objects.
    "har-entries": lambda: _packed(ENTRIES, b"{},", 66 * MB, b"{}]}}"),
    "har-entries-unpacked": lambda: _plain(ENTRIES, b"{},", 30 * MB, b"{}]}}"),
    "har-before": lambda: _plain(b'{"log":{"pages":[', b"{},", 20 * MB, b'{}],"entries":[]}}'),
    "har-keys": lambda: _plain(ENTRIES + b"{", b'"a":1,', 10 * MB, b'"b":2}]}}'),
    "har-headers": lambda: _plain(
        ENTRIES + b'{"response":{"headers":[', b'{"name":"a","value":"b"},', 3 * MB, b"{}]}}]}}"
    ),
    "har-deep": lambda: _packed(ENTRIES, b"[", 190 * MB),
    "har-string": lambda: _packed(ENTRIES + PAGE, b"a", 190 * MB, b'"}}}]}}'),
    "har-string-unpacked": lambda: _plain(ENTRIES + PAGE, b"a", 190 * MB, b'"}}}]}}'),
    "har-wide-string": lambda: _plain(
        ENTRIES + PAGE + "\U0001f600".encode(), b"a", 29 * MB, b'"}}}]}}'
    ),
    "har-number": lambda: _plain(ENTRIES, b"9", 100 * MB, b"]}}"),
    "har-endless": lambda: _packed(b"{", b" ", 5_000 * MB),
    "warc-record": lambda: _packed(WARC + b"Content-Length: 4000000000\r\n\r\n", b"\0", 4_000 * MB),
    "warc-records": lambda: _packed(b"", b"WARC/1.0\r\nContent-Length: 0\r\n\r\n\r\n", 30 * MB),
    "warc-folded": lambda: _plain(WARC, b" " + b"x" * 65_000 + b"\r\n", 900),
    "warc-chunks": lambda: _warc_record(
        b"Transfer-Encoding: chunked\r\n\r\n" + b"2\r\nab\r\n" * (20 * MB // 7)
    ),
    "warc-headers": lambda: _warc_record(b"a:\n" * (300_000) + b"\n<p>" + b"x" * 19 * MB),
    "mhtml-lines": lambda: _packed(MAIL, b"\n", 4_000 * MB),
    "mhtml-lines-unpacked": lambda: _plain(MAIL, b"\n", 99 * MB),
    "mhtml-parts": lambda: _plain(MAIL, b"\r\n--b\r\n\r\n", 9 * MB),
    "mhtml-nested": lambda: _plain(
        MAIL, b'\r\n--b\r\nContent-Type: multipart/mixed; boundary="b"\r\n\r\n', MB
    ),
    "mhtml-page": lambda: _plain(MAIL + HTML_PART, b"YWFh", 22 * MB, b"\r\n--b--"),
    "mhtml-head": lambda: _plain(b"MIME-Version: 1.0\r\n", b"a: b\r\n", 20 * MB),
    "page": lambda: _packed(b"<p>", b"a", 5_000 * MB),
    "members": lambda: gzip.compress(b"<p>") + gzip.compress(b"") * 2 * MB,
    "twice": lambda: gzip.compress(_packed(b"<p>", b"\0", 500 * MB)),
}


# Read to their end, for they break no bound; there is no page in them, or one of the right size.
SILENT = ("har-number", "warc-chunks", "warc-headers", "twice")


# One of each way to be too much; the others are tried widely.
OFTEN = ("har-entries", "har-deep", "har-string", "warc-record", "warc-folded", "mhtml-lines", "mhtml-nested",
         "page", "members", "twice")  # fmt: skip


@pytest.fixture(
    params=[pytest.param(name, marks=[] if name in OFTEN else [pytest.mark.wide]) for name in BOMBS]
)
def bomb(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    file = tmp_path / f"{request.param}.bomb"
    file.write_bytes(BOMBS[request.param]())
    yield file
    file.unlink()


def test_a_bomb_takes_little_and_is_told(bomb: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROBE, str(bomb)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    megabytes, seconds, *reasons = done.stdout.rstrip("\n").split("\t")
    assert int(megabytes) <= MOST_MEGABYTES
    assert float(seconds) <= MOST_SECONDS
    assert bool(reasons) == (bomb.stem not in SILENT)
