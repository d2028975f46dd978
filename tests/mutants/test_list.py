"""The list of mutants can be applied as written, and a breakage nobody checks is reported."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from mutants.listed import HERE, ROOT, Mutant, load
from mutants.run import Copies, Tried, report, try_all
from mutants.scratch import Scratch

from mutants import marks

MUTANTS = load()


def test_each_is_applied_to_one_place_and_names_existing_tests() -> None:
    assert [mutant.problem(ROOT) for mutant in MUTANTS if mutant.problem(ROOT)] == []
    for mutant in MUTANTS:
        assert mutant.tests
        for test in mutant.tests:
            path, _, name = test.partition("::")
            text = (ROOT / path).read_text("utf-8")
            assert not name or f"def {name.partition('[')[0]}(" in text, test


def test_each_belongs_to_a_requirement() -> None:
    rows = set(
        re.findall(
            r"^\| ([A-Z]{3}-\d+) ", (ROOT / "docs/requirements.md").read_text(), re.MULTILINE
        )
    )
    assert {mutant.row for mutant in MUTANTS} <= rows


def test_each_is_in_the_list_of_its_specification() -> None:
    for path in sorted(HERE.glob("*.toml")):
        rows = re.findall(r'^row = "(\w+)-', path.read_text("utf-8"), re.MULTILINE)
        assert {row.lower() for row in rows} <= {path.stem}


def test_every_row_has_a_mutant_or_a_reason_why_not() -> None:
    rows = set(marks.ROW.findall(marks.PAGE.read_text("utf-8")))
    mutated = {mutant.row for mutant in MUTANTS}
    assert mutated & set(marks.reasons()) == set()
    assert mutated | set(marks.reasons()) == rows
    assert all(marks.reasons().values())


def test_the_requirements_say_how_many_mutants_they_have() -> None:
    text = marks.PAGE.read_text("utf-8")
    assert marks.marked(text) == text, "run: python -m mutants.marks"


def _project(tree: Path, checked: str, fixture: str = "") -> Scratch:
    (tree / "limits.py").write_text("LIMIT = 3\n")
    (tree / "test_limits.py").write_text(
        f"import pytest\nfrom limits import LIMIT\n{fixture}\ndef test_limit():\n    assert {checked}\n"
    )
    return Scratch(tree)


RAISED = Mutant("FOR-24", "limits.py", "LIMIT = 3", "LIMIT = 4", ("test_limits.py",))


@pytest.mark.parametrize(
    "checked, end", [("LIMIT == 3", "killed"), ("LIMIT > 0", "survived"), ("(", "not tried")]
)
def test_a_mutant_lives_while_its_tests_pass(tmp_path: Path, checked: str, end: str) -> None:
    scratch = _project(tmp_path, checked)
    assert scratch.try_mutant(RAISED).startswith(end)
    assert (tmp_path / "limits.py").read_text() == "LIMIT = 3\n"


def test_a_fixture_that_fails_kills_nothing(tmp_path: Path) -> None:
    fixture = "@pytest.fixture(autouse=True)\ndef three():\n    assert LIMIT == 3\n"
    scratch = _project(tmp_path, "True", fixture)
    end = "not tried: the fixtures of test_limits.py::test_limit fail with it"
    assert scratch.try_mutant(RAISED) == end


def test_a_stale_mutant_is_not_counted_as_killed(tmp_path: Path) -> None:
    scratch = _project(tmp_path, "LIMIT == 3")
    stale = Mutant("FOR-24", "limits.py", "LIMIT = 9", "LIMIT = 4", ("test_limits.py",))
    assert scratch.try_mutant(stale) == "stale: 'LIMIT = 9' occurs 0 times in limits.py, not once"


def test_tests_that_fail_or_do_not_run_without_a_mutant_kill_nothing(tmp_path: Path) -> None:
    copies = Copies([_project(tmp_path, "LIMIT == 5")])
    (tried,) = try_all(copies, [RAISED])
    assert tried.end == "not tried: test_limits.py::test_limit fails without it"
    missing = Mutant("FOR-24", "limits.py", "LIMIT = 3", "LIMIT = 4", ("test_limits.py::test_no",))
    (tried,) = try_all(copies, [missing])
    assert tried.end.startswith("not tried: test_limits.py::test_no does not run without it")


def test_a_changed_migration_is_tried_on_a_server_of_its_own(tmp_path: Path) -> None:
    script = tmp_path / "src/messor/store/migrations/limits.sql"
    script.parent.mkdir(parents=True)
    script.write_text("LIMIT = 3")
    (tmp_path / "test_server.py").write_text(
        "import os\ndef test_server():\n    assert 'MESSOR_TEST_DATABASE_URL' in os.environ\n"
    )
    path = str(script.relative_to(tmp_path))
    mutant = Mutant("FOR-24", path, "LIMIT = 3", "LIMIT = 4", ("test_server.py",))
    scratch = Scratch(tmp_path, "postgresql://localhost/shared")
    assert scratch.run_tests(mutant.tests).code == 0
    assert scratch.try_mutant(mutant) == "killed"


def test_what_was_not_killed_is_reported_by_row(capsys: pytest.CaptureFixture[str]) -> None:
    other = Mutant("DOM-20", "limits.py", "LIMIT = 3", "LIMIT = 2", ("test_limits.py",))
    tried = [Tried(RAISED, "survived", 1.0), Tried(RAISED, "killed", 1.0), Tried(other, "stale", 1)]
    report(tried, 12.3, as_json=False)
    assert capsys.readouterr().out == (
        "DOM-20: stale: 'LIMIT = 3' in limits.py\n"
        "FOR-24: survived: 'LIMIT = 3' in limits.py\n"
        "1 of 3 mutants killed in 12 s\n"
    )
    report(tried, 12.3, as_json=True)
    shown = json.loads(capsys.readouterr().out)
    assert (shown["seconds"], shown["killed"], shown["survived"], shown["stale"]) == (12, 1, 1, 1)
    assert shown["mutants"][0]["row"] == "FOR-24"
