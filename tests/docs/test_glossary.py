"""The glossary names code that exists."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

GLOSSARY = (Path(__file__).parents[2] / "docs" / "glossary.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| \*\*.+?\*\* \|[^|]*\|[^|]*\|([^|]*)\|[^|]*\|$", re.MULTILINE)
NAMES = sorted({name for cell in ROW.findall(GLOSSARY) for name in re.findall("`([^`]+)`", cell)})


@pytest.mark.parametrize("name", NAMES)
def test_every_name_exists(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    root = "" if name.startswith("simweb") else "messor."
    if attribute[:1].isupper():
        assert hasattr(import_module(root + module), attribute)
        return
    try:
        import_module(root + name)
    except ModuleNotFoundError:
        assert hasattr(import_module(root + module), attribute)
