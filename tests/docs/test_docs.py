"""The docs keep up: every setting, command and exit code is described."""

from __future__ import annotations

from pathlib import Path

import pytest

from messor import errors
from messor.cli.main import COMMANDS
from messor.settings import Settings

ROOT = Path(__file__).parents[2]
OPERATIONS = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
PROSE = OPERATIONS + (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(Settings.model_fields))
def test_every_setting_is_described(name: str) -> None:
    assert f"`MESSOR_{name.upper()}`" in OPERATIONS
    assert Settings.model_fields[name].description


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - {"completion"}))
def test_every_command_is_shown(name: str) -> None:
    assert f"messor {name}" in PROSE


def test_every_exit_code_is_listed() -> None:
    kinds: list[type[errors.MessorError]] = [errors.MessorError]
    kinds += errors.MessorError.__subclasses__()
    for code in {kind.exit_code for kind in kinds}:
        assert f"| {code} |" in OPERATIONS


def test_no_link_of_the_docs_is_broken() -> None:
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        text = page.read_text(encoding="utf-8")
        for target in (part.partition(")")[0] for part in text.split("](")[1:]):
            path = target.partition("#")[0]
            if path and "://" not in target:
                assert (page.parent / path).exists(), f"{page.name} points at {target}"
