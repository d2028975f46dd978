"""The archive's check reads real segments, and notices torn, shifted and foreign bytes."""

from hashlib import sha256
from pathlib import Path

import pytest
from chaos.history import Page, Snapshot

from chaos import archive
from messor.archive import warc

BODY = b"<html><title>Lamps</title></html>"


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    """A segment with one record, and the snapshot that points at it."""
    opening = warc.warcinfo("Messor/test")
    record = warc.response("http://shop.test/", 200, "OK", [], body=BODY)
    (tmp_path / "a.warc.gz").write_bytes(opening + record)
    place = Page("shop.test", "/")
    return Snapshot(place, sha256(BODY).digest(), "a.warc.gz", len(opening), len(record))


def failed(folder: Path, snapshot: Snapshot) -> list[bool]:
    return [not check.ok for check in archive.judge(folder, [snapshot])]


def test_a_whole_archive_passes(tmp_path: Path, snapshot: Snapshot) -> None:
    assert failed(tmp_path, snapshot) == [False, False]


def test_a_torn_segment_is_seen(tmp_path: Path, snapshot: Snapshot) -> None:
    file = tmp_path / snapshot.segment
    file.write_bytes(file.read_bytes()[:-20])
    assert failed(tmp_path, snapshot)[1]


def test_rubbish_after_the_last_record_is_seen(tmp_path: Path, snapshot: Snapshot) -> None:
    file = tmp_path / snapshot.segment
    file.write_bytes(file.read_bytes() + b"rubbish" * 10)
    assert failed(tmp_path, snapshot) == [True, False]


@pytest.mark.parametrize("field, value", [("raw_hash", b"x" * 32), ("offset", 3), ("segment", "b")])
def test_a_snapshot_that_points_elsewhere_is_seen(
    tmp_path: Path, snapshot: Snapshot, field: str, value: object
) -> None:
    values = {name: getattr(snapshot, name) for name in Snapshot.__slots__} | {field: value}
    assert failed(tmp_path, Snapshot(**values)) == [False, True]
