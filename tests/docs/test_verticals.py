"""docs/verticals.md describes every field of a vertical's file, and its example is one."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from pydantic import BaseModel

from messor.verticals import model
from messor.verticals.model import Vertical

PAGE = (Path(__file__).parents[2] / "docs" / "verticals.md").read_text("utf-8")
TABLES: dict[str, type[BaseModel]] = {
    "Fields": Vertical,
    "A service": model.Service,
    "A geo set": model.GeoSet,
    "A template": model.Template,
    "A profile": model.Profile,
    "Relevance": model.Relevance,
    "Scoring": model.Scoring,
}


@pytest.mark.parametrize("title", TABLES)
def test_every_field_is_described(title: str) -> None:
    section = re.split(r"^#+ ", PAGE.partition(f"# {title}\n")[2], flags=re.MULTILINE)[0]
    described = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    assert described == list(TABLES[title].model_fields)


def test_the_example_is_a_vertical() -> None:
    (example,) = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert Vertical.model_validate(tomllib.loads(example)).name == "lamps"


def test_judges_and_score_parts_are_named() -> None:
    for name in (*model.JUDGES, *model.SCORE_PARTS):
        assert f"`{name}`" in PAGE
