"""docs/cli.md is what the commands declare."""

from __future__ import annotations

from pathlib import Path

from messor.cli.reference import reference

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def test_the_page_is_what_the_commands_declare() -> None:
    lagging = "run: python -m messor.cli.reference docs/cli.md"
    assert PAGE.read_text("utf-8") == reference(), lagging
