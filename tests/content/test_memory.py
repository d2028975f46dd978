"""What is remembered between pages changes nothing, is bounded, and is the reader's own."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from messor.content import memory as memories
from messor.content.memory import MAX_KEY, Bounded, KnownTexts, Memo, Memory


def told_of(texts: Collection[str]) -> dict[str, str]:
    return {text: text.upper() for text in texts if text.startswith("a")}


def test_a_value_is_computed_once() -> None:
    asked: list[str] = []

    def size(text: str) -> int:
        asked.append(text)
        return len(text)

    memo = Memo(size)
    assert [memo["ab"], memo["ab"], memo["c"]] == [2, 2, 1]
    assert asked == ["ab", "c"]


def test_a_long_text_is_not_kept() -> None:
    memo = Memo(len)
    assert memo["x" * (MAX_KEY + 1)] == MAX_KEY + 1
    assert memo["x" * MAX_KEY] == MAX_KEY
    assert list(memo) == ["x" * MAX_KEY]


def test_a_full_dict_forgets_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bounded, "limit", 3)
    memo = Memo(len)
    for number in range(9):
        assert memo["x" * number] == number
        assert 0 < len(memo) <= 3


def test_known_texts_are_not_read_again() -> None:
    asked: list[set[str]] = []

    def tell(texts: Collection[str]) -> dict[str, str]:
        asked.append(set(texts))
        return told_of(texts)

    held = KnownTexts(tell)
    assert held.lookup({"ab", "b"}) == {"ab": "AB"}
    assert held.lookup({"ab", "b"}) == {"ab": "AB"}
    assert held.lookup({"ab", "ac"}) == {"ab": "AB", "ac": "AC"}
    assert asked == [{"ab", "b"}, {"ac"}]


def test_known_texts_stay_few_and_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memories, "MAX_ENTRIES", 50)
    held = KnownTexts(told_of)
    long = "a" * (MAX_KEY + 1)
    for start in range(0, 400, 20):
        texts = {f"a{number}" for number in range(start, start + 40)} | {long}
        assert held.lookup(texts) == told_of(texts)
        assert held._meanings.keys() <= held._known
        assert len(held._known) <= 50
        assert long not in held._known
    many = {f"a{number}" for number in range(60)}
    assert held.lookup(many) == told_of(many)
    assert len(held._known) <= 50


def test_readers_share_nothing() -> None:
    one, other = Memory(), Memory()
    assert one.memo(len) is one.memo(len)
    assert one.part(dict) is one.part(dict)
    assert one.texts(told_of) is one.texts(told_of)
    assert one.memo(len) is not other.memo(len)
    assert one.part(dict) is not other.part(dict)
    assert one.texts(told_of) is not other.texts(told_of)
