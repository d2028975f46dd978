"""The pictures of a domain's life show exactly the transitions that the code allows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from messor.registry.life import PROCESSING, TRANSITIONS

PAGE = (Path(__file__).parents[2] / "docs" / "domain-life.md").read_text(encoding="utf-8")


def drawn(heading: str) -> set[tuple[str, str]]:
    picture = PAGE.partition(f"## {heading}\n")[2].partition("```mermaid")[2].partition("```")[0]
    return set(re.findall(r"^\s+(\w+) --> (\w+)", picture, re.MULTILINE))


@pytest.mark.parametrize("heading, table", [("Status", TRANSITIONS), ("Processing", PROCESSING)])
def test_the_picture_shows_every_transition_and_no_other(
    heading: str, table: dict[str, set[str]]
) -> None:
    assert drawn(heading) == {(before, after) for before in table for after in table[before]}
