"""Blocks compressed apart join into one gzip member that any reader takes whole."""

import gzip
import zlib

from hypothesis import given
from hypothesis import strategies as st

from simweb import splice


@given(st.lists(st.binary(max_size=2_000), min_size=1, max_size=6))
def test_joined_blocks_are_one_member(blocks: list[bytes]) -> None:
    whole = b"".join(blocks)
    member = splice.join(tuple(map(splice.deflate, blocks)), splice.checksum(whole))
    assert gzip.decompress(member) == whole
    reader = zlib.decompressobj(wbits=31)
    assert reader.decompress(member) == whole
    assert reader.eof
    assert reader.unused_data == b""


@given(st.binary(max_size=5_000))
def test_compress_and_back(plain: bytes) -> None:
    assert splice.decompress(splice.compress(plain)) == plain


def test_a_member_sent_piece_by_piece() -> None:
    block, times = b"abc" * 100, 5
    crc = splice.crc32(block * times)
    pieces = [splice.start(), *[splice.deflate(block)] * times, splice.end(crc, len(block) * times)]
    assert gzip.decompress(b"".join(pieces)) == block * times
