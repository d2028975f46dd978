"""`messor backup`: made, listed, checked, refused and removed from the command line."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Messor


def test_a_backup_is_made_listed_verified_and_removed(messor: Messor, tmp_path: Path) -> None:
    kept = str(tmp_path / "kept")
    assert messor("backup", "create").code == 2  # nobody said where
    made = messor("backup", "create", "-o", kept, "--json")
    assert made.code == 0, made.err
    assert "It holds no key" in made.err
    listed = messor("backup", "list", kept, "--json").json
    assert [each["name"] for each in listed] == [made.json["name"]]
    assert messor("backup", "verify", kept, "--json").json["clean"] is True
    again = messor("backup", "create", "-o", kept, "--json").json
    assert messor("backup", "prune", kept, "--keep", "1", "--json").json == {
        "removed": [made.json["name"]]
    }
    (tmp_path / "kept" / again["name"] / "settings.json").write_text("{}")
    found = messor("backup", "verify", kept)
    assert (found.code, "settings.json is not what was written" in found.err) == (8, True)


def test_what_is_no_backup_is_said_in_a_sentence(messor: Messor, tmp_path: Path) -> None:
    missing = messor("backup", "list", str(tmp_path / "nowhere"))
    assert (missing.code, "is not a folder" in missing.err) == (2, True)
    empty = messor("backup", "restore", str(tmp_path), "--yes")
    assert (empty.code, "holds no complete backup" in empty.err) == (2, True)
    other = messor("backup", "verify", str(tmp_path), "--name", "../x")
    assert (other.code, "holds no complete backup" in other.err) == (2, True)


def test_a_database_in_use_is_not_restored_over(messor: Messor, tmp_path: Path) -> None:
    kept = str(tmp_path / "kept")
    assert messor("backup", "create", "-o", kept).code == 0
    refused = messor("backup", "restore", kept, "--yes")
    assert (refused.code, "The database is not empty" in refused.err) == (2, True)


def test_moved_says_what_follows(messor: Messor) -> None:
    moved = messor("db", "moved", "--json")
    assert (moved.code, moved.json) == (0, {"moved": True})
    assert "beyond all that were given out" in moved.err
