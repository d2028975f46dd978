"""A vertical's file: what ships is sound, and what is wrong is said with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from messor.errors import NotFoundError, UsageError
from messor.verticals import differences, files


@pytest.mark.parametrize("name", files.SHIPPED)
def test_what_ships_is_sound(name: str) -> None:
    vertical = files.shipped(name).vertical
    assert vertical.name == name
    assert len(vertical.services) >= 10
    assert len(set(vertical.judges)) == 6
    assert vertical.on_block == ("failover" if name == "wellness" else "respect")


def changed(old: str, new: str) -> str:
    source = files.shipped("wellness").source
    assert old in source
    return source.replace(old, new, 1)


VERSION = f"version = {files.shipped('wellness').vertical.version}"


@pytest.mark.parametrize(
    "old,new,said",
    [
        (
            'device = "mobile"',
            'device = "watch"',
            r"w\.toml, line \d+, key profiles\.sg-mobile\.device",
        ),
        ('title = "Wellness clinics"', 'title = "a\\u0000b"', r"line 3, key title"),
        ('title = "Wellness clinics"', "title = 7", r"w\.toml, line 3, key title"),
        ('title = "Wellness clinics"', "titel = 7", r"line 3, key titel: Extra inputs"),
        ('geo_set = "country"', 'geo_set = "mars"', "which is not defined"),
        ('template = "{service} {geo}"', 'template = "{geo}"', r"line \d+, key templates\[0\]"),
        ('template = "{service} {geo}"', 'template = "{service} {x}"', "no other slot"),
        ("keyword = 3.0", "keyword = -1", "key judges.keyword"),
        ("keyword = 3.0", "keyword = nan", "key judges.keyword"),
        ("keyword = 3.0", "sorcery = 3.0", r"line \d+, key judges\.sorcery"),
        ('name = "botox"', 'name = "Dermatologist"', "occurs twice"),
        ("visibility = 0.35, ", "", "weights must name exactly"),
        ('D = "quarterly"', "", "track levels A, B, C, D"),
        ('record_kinds = ["service"', 'record_kinds = ["spell"', "key record_kinds"),
        (VERSION, "version = 0", "key version"),
        (VERSION, "version = = 1", "not valid TOML.*line 4"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(old: str, new: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        files.understand(changed(old, new), "w.toml")


def test_the_line_is_that_of_the_key() -> None:
    source = changed('synonyms = ["tcm clinic", "traditional chinese medicine"]', "synonyms = 5")
    line = source.splitlines().index("synonyms = 5") + 1
    with pytest.raises(UsageError, match=rf"line {line}, key services\[9\]\.synonyms"):
        files.understand(source, "w.toml")


def test_many_faults_are_said_at_once() -> None:
    with pytest.raises(UsageError, match=r"key title.*key services"):
        files.understand('name = "x"\nversion = 1', "w.toml")


def test_a_file_is_found_by_name_or_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(files.shipped("funding").source)
    assert files.find(str(path)).vertical == files.find("funding").vertical
    with pytest.raises(NotFoundError, match="neither a file"):
        files.find("astrology")
    with pytest.raises(UsageError, match="cannot be read"):
        files.find(str(tmp_path / "none.toml"))
    path.write_bytes(b"\xff")
    with pytest.raises(UsageError, match="not UTF-8"):
        files.find(str(path))


def test_differences_name_their_keys() -> None:
    before = files.shipped("wellness").vertical
    after = files.understand(
        changed('name = "botox"', 'name = "needles"').replace("keyword = 3.0", "keyword = 2.0"), "w"
    ).vertical
    said = [str(change) for change in differences.between(before, after)]
    assert "~ judges.keyword: 3.0 → 2.0" in said
    assert any(line.startswith("- services.botox.") for line in said)
    assert any(line.startswith("+ services.needles.") for line in said)
    assert differences.between(before, before) == []
