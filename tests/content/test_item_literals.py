"""Where a literal of JSON-LD is found the short way, it is the one that the long way finds."""

from __future__ import annotations

import random

import pytest

from messor.content import items
from messor.content.items import _Script, json_items
from messor.content.page import ParsedPage
from messor.content.structured.json_ld import JsonLiteral

PIECES = (
    '"name": "Lamp"', '"name":"Lamp"', '"name" : "Lamp"', '"name": Lamp', '"name": 5', '"name": "5"',
    '"', '""', '"a"', '"name": "Lamp": ', "// it's\n", ": ", ", ", '"x": "', '"schema:name": "Lamp"',
    ",", "},", "\\", '\\"', '"name": "La\\u006dp"', "{", "}", "name",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
def test_a_literal_is_the_same_either_way(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(seed)
    scripts = ["".join(source.choices(PIECES, k=source.randrange(1, 12))) for _ in range(500)]
    wanted = [("name", "Lamp"), ("name", "5"), ("name", 'La"mp'), ("x", "Lamp"), ("a", "")]
    short = [_Script(written, {}).literal(*each) for written in scripts for each in wanted]
    monkeypatch.setattr(items, "_SHORT", -1)
    long = [_Script(written, {}).literal(*each) for written in scripts for each in wanted]
    assert short == long


def test_a_number_is_not_taken_for_a_text() -> None:
    found = _Script('{"name": "5", "sku": 5}', {}).literal("name", JsonLiteral("5"))
    assert type(found) is str


def test_a_long_script_is_read_once_for_all_of_its_items(monkeypatch: pytest.MonkeyPatch) -> None:
    def says(*_: object) -> bool:
        raise AssertionError("It is looked through for each of its items.")

    monkeypatch.setattr(_Script, "_says", says)
    things = ",".join(f'{{"@type": "Product", "name": "Lamp {number}"}}' for number in range(500))
    page = ParsedPage.read(f'<script type="application/ld+json">[{things}]</script>')
    names = [item.text("name") for item in json_items(page)]
    assert [name.quote for name in names if name] == [f"Lamp {number}" for number in range(500)]
