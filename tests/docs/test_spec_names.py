"""The names of specification 001 are mapped to names that exist."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "spec-names.md").read_text(encoding="utf-8")
MAPPED = re.findall(r"^\| `(\w+)` \| `(messor[\w.]*): (\w+)` \|$", PAGE, re.MULTILINE)


def test_all_public_names_are_mapped() -> None:
    assert len(MAPPED) == len({name for name, _, _ in MAPPED}) == 18


@pytest.mark.parametrize("name, module, ours", MAPPED)
def test_a_name_leads_to_ours(name: str, module: str, ours: str) -> None:
    assert hasattr(import_module(module), ours), name
