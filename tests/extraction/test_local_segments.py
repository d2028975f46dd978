"""A segment is this machine's own by the whole name of its host, not by how that begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from messor.extraction.local_segments import LocalSegments

DAY = "2026/11/17/"


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalSegments:
    monkeypatch.setattr("socket.gethostname", lambda: "crawler")
    return LocalSegments(tmp_path)


@pytest.mark.parametrize(
    "name",
    [
        "crawler-4711-9-00001.warc.gz",
        "import-crawler-4711-9-00001.warc.gz",
        "repair-crawler-4711-9-00001.warc.gz",
        "promotion-crawler-4711-9-00001.warc.gz",
    ],
)
def test_what_this_machine_wrote_should_be_here(shelf: LocalSegments, name: str) -> None:
    assert shelf.may_hold(DAY + name)


@pytest.mark.parametrize(
    "name",
    [
        "crawler-2-4711-9-00001.warc.gz",
        "import-crawler-2-4711-9-00001.warc.gz",
        "old-crawler-4711-9-00001.warc.gz",
        "crawler.example-4711-9-00001.warc.gz",
    ],
)
def test_a_host_whose_name_begins_alike_is_another(
    shelf: LocalSegments, tmp_path: Path, name: str
) -> None:
    assert not shelf.may_hold(DAY + name)
    (tmp_path / DAY).mkdir(parents=True)
    (tmp_path / DAY / name).touch()
    assert shelf.may_hold(DAY + name)  # it was brought here
