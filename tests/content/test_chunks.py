"""Markdown is cut by heading; a chunk keeps its id when only its text changes."""

from __future__ import annotations

from messor.content.chunks import MAX_CHUNK, chunks_of

PAGE = """Before all headings.

# Kettles

All of copper.

## Care [guide](/care)

```
# not a heading
```

## Care guide

Twice.

# Empty
"""


def test_headings_make_chunks() -> None:
    found = chunks_of(7, PAGE)
    assert [(one.heading_path, one.anchor) for one in found] == [
        ((), None),
        (("Kettles",), "kettles"),
        (("Kettles", "Care guide"), "care-guide"),
        (("Kettles", "Care guide"), "care-guide-1"),
    ]
    assert found[2].text == "```\n# not a heading\n```"
    assert [one.position for one in found] == [0, 1, 2, 3]
    assert len({one.id for one in found}) == 4


def test_a_changed_text_keeps_its_id_and_changes_its_hash() -> None:
    before, after = chunks_of(7, PAGE), chunks_of(7, PAGE.replace("Twice.", "Once."))
    assert [one.id for one in before] == [one.id for one in after]
    assert [a.hash == b.hash for a, b in zip(before, after, strict=True)] == [True] * 3 + [False]
    assert before[0].id != chunks_of(8, PAGE)[0].id


def test_long_sections_are_cut_between_paragraphs() -> None:
    text = "\n\n".join(["word " * 200] * 10) + "\n\n" + "x" * (2 * MAX_CHUNK)
    found = chunks_of(1, text)
    assert all(len(one.text) <= MAX_CHUNK for one in found)
    assert "".join(one.text for one in found).replace("\n", "") == text.replace("\n", "")


def test_nothing_has_no_chunks() -> None:
    assert chunks_of(1, "") == []
