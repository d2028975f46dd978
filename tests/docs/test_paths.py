"""Files and names of code that the docs mention exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLACES = (ROOT, ROOT / "src" / "messor", ROOT / "tests")
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
MENTION = re.compile(r"`((?:[\w.-]+/)+[\w*-]+\.(?:py|sql|js|toml))(?:: ?([\w.]+))?`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_and_its_names_exist(page: Path) -> None:
    for path, names in MENTION.findall(page.read_text(encoding="utf-8")):
        found = [file for place in PLACES for file in place.glob(path)]
        assert found, path
        source = found[0].read_text(encoding="utf-8")
        for name in filter(None, names.split(".")):
            assert re.search(rf"\b{name}\b", source), f"{path}: {name}"
