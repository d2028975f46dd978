"""Deliveries to object stores: in parts, continued after a kill, and on stores and lines that lie."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from messor.archive.objects import StoreOptions, open_store
from messor.errors import UnavailableError
from messor.exports.object_place import ObjectPlace, _client, _uploads
from tests.archive import stores
from tests.archive.stores import Fault

PART = 5 << 20  # the least that S3 takes
NAME = "shops/products-1.jsonl"
PATIENCE = 60.0
KILLED = """
import sys
from pathlib import Path
from messor.archive.objects import StoreOptions
from messor.exports.object_place import ObjectPlace
url, endpoint, key_id, secret, part, source, name = sys.argv[1:]
options = StoreOptions(endpoint=endpoint, key_id=key_id, secret=secret)
ObjectPlace(url, options, int(part)).put(Path(source), name)
"""


@pytest.fixture(scope="module")
def moto() -> Iterator[StoreOptions]:
    with stores.moto() as options:
        yield options


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "made.jsonl"
    path.write_bytes(os.urandom(3 * PART + 77))
    return path


def place(options: StoreOptions) -> ObjectPlace:
    return ObjectPlace(stores.fresh(options).url, options, PART)


def stored(at: ObjectPlace, options: StoreOptions) -> bytes:
    return open_store(at.url, options).whole(NAME)


def unfinished(at: ObjectPlace) -> list[str]:
    return _uploads(_client(at.options), at._target(NAME))


def test_a_killed_delivery_continues_with_the_parts_that_are_there(
    moto: StoreOptions, source: Path
) -> None:
    sent: list[dict[str, str]] = []
    at = place(moto)
    with stores.unsteady(moto, [("PUT", Fault.SLOW)] * 9, sent) as slow:
        given = [at.url, str(slow.endpoint), str(slow.key_id), str(slow.secret), str(PART)]
        process = subprocess.Popen([sys.executable, "-c", KILLED, *given, str(source), NAME])
        until = time.monotonic() + PATIENCE
        while len(sent) < 3 and time.monotonic() < until:  # two have arrived
            time.sleep(0.01)
        process.kill()
        process.wait()
    assert len(unfinished(at)) == 1
    with pytest.raises(FileNotFoundError):
        stored(at, moto)
    with stores.unsteady(moto, [], sent) as line:
        del sent[:]
        replace(at, options=line).put(source, NAME)
    assert 1 <= len(sent) <= 2, "of four parts two were there"
    assert stored(at, moto) == source.read_bytes()
    assert unfinished(at) == []
    del sent[:]
    with stores.unsteady(moto, [], sent) as line:
        replace(at, options=line).put(source, NAME)
    assert sent == [], "it was there already"


def test_parts_of_another_file_are_not_taken_over(moto: StoreOptions, source: Path) -> None:
    at = place(moto)
    client, target = _client(moto), at._target(NAME)
    upload = client.create_multipart_upload(**target)["UploadId"]
    client.upload_part(**target, UploadId=upload, PartNumber=2, Body=b"x" * PART)
    at.put(source, NAME)
    assert stored(at, moto) == source.read_bytes()


@pytest.mark.parametrize(
    "faults",
    [
        [("PUT", Fault.BUSY), ("PUT", Fault.ANSWER_LOST)],
        [("POST", Fault.BUSY), ("POST", Fault.ANSWER_LOST)],
        [("HEAD", Fault.ANSWER_LOST), ("GET", Fault.BUSY)],
    ],
)
def test_a_bad_line_makes_no_gap(
    moto: StoreOptions, source: Path, faults: list[tuple[str, Fault]]
) -> None:
    at = place(moto)
    with stores.unsteady(moto, faults) as line:
        replace(at, options=line).put(source, NAME)
    assert faults == []
    assert stored(at, moto) == source.read_bytes()
    assert unfinished(at) == []


@pytest.mark.parametrize("size", [0, 1000, PART, PART + 1])
def test_files_of_any_size(moto: StoreOptions, source: Path, size: int) -> None:
    source.write_bytes(os.urandom(size))
    at = place(moto)
    at.put(source, NAME)
    assert stored(at, moto) == source.read_bytes()
    at.remove(NAME)
    at.remove(NAME)
    with pytest.raises(FileNotFoundError):
        stored(at, moto)


@pytest.mark.parametrize("size", [1000, 2 * PART])
def test_a_store_that_says_it_wrote_is_not_believed(
    moto: StoreOptions, source: Path, size: int
) -> None:
    source.write_bytes(os.urandom(size))
    at = place(moto)
    with (
        stores.unsteady(moto, [("PUT", Fault.FORGOTTEN)]) as liar,
        pytest.raises(UnavailableError, match="The file is kept and delivered when it works again"),
    ):
        replace(at, options=liar).put(source, NAME)
    with pytest.raises(FileNotFoundError):
        stored(at, moto)
    at.put(source, NAME)
    assert stored(at, moto) == source.read_bytes()


def test_removing_takes_unfinished_parts_along(moto: StoreOptions, source: Path) -> None:
    at = place(moto)
    client, target = _client(moto), at._target(NAME)
    upload = client.create_multipart_upload(**target)["UploadId"]
    client.upload_part(**target, UploadId=upload, PartNumber=1, Body=source.read_bytes()[:PART])
    at.remove(NAME)
    assert unfinished(at) == []


@pytest.mark.skipif(not stores.has_rclone(), reason="rclone is not here: make test installs it")
def test_a_store_with_tags_and_rules_of_its_own(tmp_path: Path, source: Path) -> None:
    with stores.rclone(tmp_path / "rclone") as options:
        at = place(options)
        for _ in range(2):  # the second one replaces what is there
            at.put(source, NAME)
            assert stored(at, options) == source.read_bytes()
            source.write_bytes(os.urandom(2 * PART + 5))
        at.remove(NAME)
        with pytest.raises(FileNotFoundError):
            stored(at, options)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"endpoint": "http://127.0.0.1:9"}, "cannot be used: Could not connect"),
        ({"bucket": "s3://nothing-is-here/x"}, "The specified bucket does not exist"),
    ],
)
def test_a_broken_place_is_one_sentence(
    moto: StoreOptions, source: Path, change: dict[str, str], words: str
) -> None:
    options = replace(moto, endpoint=change.get("endpoint", moto.endpoint))
    at = replace(place(options), url=change.get("bucket", "s3://pages/x"))
    with pytest.raises(UnavailableError, match=words):
        at.put(source, NAME)
