"""Word lists: every file is loaded by its room, says what it holds, and has no empty or double entry."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import messor
from messor.content import hours, page_type
from messor.content.main import hints
from messor.content.money import parse_price
from messor.core.words import load, phrases
from messor.fetch.gates import sentences, verdict
from messor.fetch.gates.answer import plain
from messor.insight.class_features import CLASSES

SOURCE = Path(messor.__file__).parent
FILES = sorted(SOURCE.rglob("data/*.toml"))
LOADED = re.compile(r'load\("([\w.]+)", "(\w+)"\)')
WITH_CAPITALS = {"currencies", "regions", "site_classes"}


def read(path: Path) -> dict[str, Any]:
    return load(".".join(("messor", *path.parent.parent.relative_to(SOURCE).parts)), path.stem)


def lists(value: Any, name: str = "") -> Iterator[tuple[str, list[str]]]:
    """The lists of a file, each with its name."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from lists(inner, f"{name}.{key}")
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for inner in value:
            yield from lists(inner, name)
    elif isinstance(value, list):
        yield name, value
    elif isinstance(value, str):
        separator = next((each for each in ("|", ",") if each in value), "")
        by_line = name.endswith("phrases")
        yield (
            name,
            value.strip().split("\n")
            if by_line
            else list(phrases(value, separator))
            if separator
            else list(phrases(value, " ")),  # a sign may have a hard space in it
        )


def test_every_file_is_loaded_and_every_loaded_file_exists() -> None:
    loaded = {
        SOURCE.parent / package.replace(".", "/") / "data" / f"{name}.toml"
        for path in SOURCE.rglob("*.py")
        for package, name in LOADED.findall(path.read_text("utf-8"))
    }
    assert loaded == set(FILES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_lists_say_what_they_hold_and_repeat_nothing(path: Path) -> None:
    assert path.read_text("utf-8").startswith("# ")
    for name, entries in lists(read(path)):
        assert entries, name
        assert all(entry.strip() for entry in entries), name
        assert len(entries) == len(set(entries)), (name, sorted(entries))
        if path.stem not in WITH_CAPITALS:
            assert [each for each in entries if each != each.lower()] == [], name


@pytest.mark.parametrize("name", ["months", "days", "page_types"])
def test_words_that_are_compared_with_folded_text_have_no_accents(name: str) -> None:
    for where, entries in lists(load("messor.content", name)):
        for entry in entries:
            letters = [
                each for each in entry if "a" <= unicodedata.normalize("NFD", each)[0] <= "z"
            ]
            assert "".join(letters).isascii(), (where, entry)


def test_names_of_types_roles_and_blocks_are_known() -> None:
    types = load("messor.content", "page_types")
    assert {*types["segments"], *types["titles"]} <= set(page_type.TYPES)
    assert load("messor.content", "class_names").keys() == hints._BY_NAME.keys()
    assert load("messor.insight", "site_classes")["says"].keys() <= set(CLASSES)
    assert load("messor.insight", "site_classes")["called"].keys() <= set(CLASSES)
    assert len(hours.DAYS) == 7
    assert [int(number) for number in load("messor.content", "months")] == list(range(1, 13))


def test_sentences_are_written_as_pages_are_compared() -> None:
    kinds = {value for value in vars(verdict).values() if isinstance(value, str)}
    for sentence, by, below in sentences._SENTENCES:
        assert plain(sentence) == sentence
        assert by in kinds or re.fullmatch(r"[a-z0-9-]+", by)
        assert below > 0


def test_every_sign_of_a_currency_is_recognised() -> None:
    for code, signs in load("messor.content", "currencies")["signs"].items():
        sign = signs.split(" ")[0].replace("\xa0", " ")
        assert parse_price(f"{sign} 12").code == code or parse_price(f"12 {sign}").code == code
