"""Markdown of strangers: read into pieces, in bounded time, links only where they are safe_link."""

from __future__ import annotations

import pytest

from messor.console import differences, markdown
from messor.console.markdown import TextRun

BASE = "https://shop.example/a/b"


def kinds(text: str) -> list[str]:
    return [block.kind for block in markdown.read(text, BASE)]


def test_blocks() -> None:
    text = "# T #\n\nOne\ntwo\n\n- a\n    - b\n1. c\n\n> q\n\n---\n\n~~~\nx\n~~~\n\n| a |\n|---|\n| b |\n"
    assert kinds(text) == [
        "heading", "paragraph", "item", "item", "item", "quote", "rule", "code", "table",
    ]  # fmt: skip
    blocks = markdown.read(text, BASE)
    assert blocks[0].pieces == (TextRun("text", "T"),)
    assert blocks[1].pieces == (TextRun("text", "One two"),)
    assert [block.level for block in blocks[2:5]] == [0, 2, 0]
    assert blocks[4].marker == "1."
    assert len(blocks[-1].rows) == 2


def test_pieces() -> None:
    found = markdown.pieces(r"a **b** *c* `d` \*e\* [f](/g) ![h](i.png) <https://j.example/>", BASE)
    assert [(piece.kind, piece.text) for piece in found if piece.kind != "text"] == [
        ("strong", "b"),
        ("em", "c"),
        ("code", "d"),
        ("link", "f"),
        ("image", "h"),
        ("link", "https://j.example/"),
    ]
    assert "*e*" in "".join(piece.text for piece in found)
    assert found[7].href == "https://shop.example/g"


@pytest.mark.parametrize(
    "target",
    [
        "javascript:alert`1`", "JaVaScRiPt:x", "data:text/html,x", "vbscript:x", "file:///etc/passwd",
        "java\tscript:x", "\x01javascript:x", "blob:x", "http://[broken", "mailto:a@b.c",
    ],
)  # fmt: skip
def test_links_that_lead_to_no_page(target: str) -> None:
    assert markdown.safe_link(target, BASE) is None or markdown.safe_link(target, BASE).startswith(  # type: ignore[union-attr]
        "https://shop.example/"
    )


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000, "`" * 100_000, "*" * 100_000, "# " + " " * 100_000 + "x", "|" * 100_000,
        " " * 90_000 + "|x", "> " * 50_000, "- " * 50_000, "[a](" * 25_000, "![" * 50_000,
        "**a" * 30_000, "<http://" * 12_000, "| - " * 25_000, "a\n" * 50_000, "\\" * 100_000,
    ],
    ids=range(15),
)  # fmt: skip
def test_hostile_texts_end(text: str) -> None:
    """Each is quadratic for a careless reader: then this test would not end."""
    assert len(markdown.read(text, BASE)) <= markdown.MAX_BLOCKS + 1


def test_differences() -> None:
    found = differences.compare("a\nb\nc", "a\nx\nc\nd")
    assert [(one.kind, one.text) for one in found.changes] == [
        ("same", "a"), ("gone", "b"), ("new", "x"), ("same", "c"), ("new", "d"),
    ]  # fmt: skip
    assert (found.new, found.gone, found.is_cut) == (2, 1, False)
    assert differences.compare("same", "same").changes == ()


def test_long_texts_are_compared_in_part() -> None:
    older = "\n".join(f"line {number}" for number in range(5_000))
    found = differences.compare(older, older.replace("line 10\n", "other\n"))
    assert found.is_cut
    assert [one.kind for one in found.changes if one.kind in ("gone", "new")] == ["gone", "new"]
    assert any(one.kind == "gap" for one in found.changes)
