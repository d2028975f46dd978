"""Home folders of browsers whose workers were killed."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

from messor.fetch.browser import processes
from messor.fetch.browser.chromium import HOME_PREFIX, remove_stale_homes


def test_homes_may_go_while_they_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process looks for stale ones, too."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    homes = [tmp_path / f"{HOME_PREFIX}{owner}-x" for owner in (1, 2, 3)]
    for home in homes:
        home.mkdir()

    def is_running(_: int) -> bool:
        for home in homes:
            shutil.rmtree(home, ignore_errors=True)
        return False

    monkeypatch.setattr(processes, "is_running", is_running)
    remove_stale_homes()
    assert list(tmp_path.iterdir()) == []
