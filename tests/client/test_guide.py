"""The Python of the guide and of the client's README runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.client.conftest import Installation

ROOT = Path(__file__).parents[2]
CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_guide_runs_from_top_to_bottom(
    installation: Installation,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    names = {"KEY": installation.key(), "URL": installation.url}
    for block in CODE.findall((ROOT / "docs" / "guides" / "python.md").read_text("utf-8")):
        exec(compile(block, "docs/guides/python.md", "exec"), names)
    out = capsys.readouterr().out
    assert "one.test" in out
    assert "approved" in out
    assert "not_found" in out
    assert (tmp_path / "cursor").read_text()
    names["messor"].close()  # type: ignore[attr-defined]


def test_the_readme_runs(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (block,) = CODE.findall((ROOT / "packages" / "client" / "README.md").read_text("utf-8"))
    assert "http://127.0.0.1:8321" in block
    block = block.replace("http://127.0.0.1:8321", installation.url)
    block = block.replace("with Client(key,", "with Client(key, sleep=lambda _: work(), base_url=")
    exec(
        compile(block, "README.md", "exec"),
        {"key": installation.key(), "work": installation.work},
    )
    assert (tmp_path / "records.parquet").stat().st_size > 0
