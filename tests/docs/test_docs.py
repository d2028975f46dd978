"""The docs are complete: every setting, command, exit code and room is described."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from messor import errors
from messor.cli.domains import configure
from messor.cli.main import COMMANDS
from messor.settings import AllowedNetworks, Settings

ROOT = Path(__file__).parents[2]
OPERATIONS = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
PROSE = OPERATIONS + (ROOT / "README.md").read_text(encoding="utf-8")


def _row(name: str) -> str:
    """The row of a setting in the table of `docs/operations.md`."""
    field = Settings.model_fields[name]
    default = field.get_default(call_default_factory=True)
    shown = f"`{str(default).lower() if isinstance(default, bool) else default}`"
    is_empty = default is None or not str(default) or default in ([], {}, AllowedNetworks())
    return f"| `MESSOR_{name.upper()}` | {'empty' if is_empty else shown} | {field.description} |"


def test_the_table_of_settings_is_that_of_their_declarations() -> None:
    rows = [line for line in OPERATIONS.splitlines() if line.startswith("| `MESSOR_")]
    assert all(field.description for field in Settings.model_fields.values())
    assert sorted(rows) == sorted(map(_row, Settings.model_fields))


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - {"completion"}))
def test_every_command_is_shown(name: str) -> None:
    assert f"messor {name}" in PROSE


def test_every_exit_code_is_listed() -> None:
    kinds: list[type[errors.MessorError]] = [errors.MessorError]
    kinds += errors.MessorError.__subclasses__()
    for code in {kind.exit_code for kind in kinds}:
        assert f"| {code} |" in OPERATIONS


def test_no_link_of_the_docs_is_broken() -> None:
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        text = page.read_text(encoding="utf-8")
        for target in (part.partition(")")[0] for part in text.split("](")[1:]):
            path = target.partition("#")[0]
            if path and "://" not in target:
                assert (page.parent / path).exists(), f"{page.name} points at {target}"


REQUIREMENTS = (ROOT / "docs" / "requirements.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| ([A-Z]{3})-\d\d \| .* \| (shown|open) \| .* \| (.*) \|$", re.MULTILINE)


def test_what_requirements_are_shown_by_is_there() -> None:
    for _, state, shown_by in ROW.findall(REQUIREMENTS):
        named = re.findall(r"`([\w/]+\.py)::(\w+)`", shown_by)
        assert bool(named) == (state == "shown")
        for file, function in named:
            source = (ROOT / "tests" / file).read_text(encoding="utf-8")
            assert re.search(rf"^(async )?def {function}\(", source, re.MULTILINE), function


def test_requirements_are_counted() -> None:
    states = [(name, state) for name, state, _ in ROW.findall(REQUIREMENTS)]
    for name in {name for name, _ in states}:
        rows = [state for row, state in states if row == name]
        counts = rf"^\| {name} \| [^|]+ \| {len(rows)} \| {rows.count('shown')} \|$"
        assert re.search(counts, REQUIREMENTS, re.MULTILINE), name
    shown = sum(state == "shown" for _, state in states)
    assert f"| | all | {len(states)} | {shown} |" in REQUIREMENTS


# Later stages of their specification, which speak of a scale beyond one site of machines.
PLANNED = {"FOR-39", "FOR-42"}


def test_no_requirement_is_open_but_what_is_planned() -> None:
    rows = re.findall(r"^\| ([A-Z]{3}-\d\d) \| .*? \| (\w+) \|", REQUIREMENTS, re.MULTILINE)
    assert len(rows) == len(ROW.findall(REQUIREMENTS)) == 309
    assert {row for row, state in rows if state != "shown"} <= PLANNED


def test_every_room_has_its_row() -> None:
    folders = (ROOT / "docs" / "folders.md").read_text(encoding="utf-8")
    for init in (ROOT / "src" / "messor").rglob("__init__.py"):
        folder = init.parent.relative_to(ROOT).as_posix()
        assert f"`{folder}/`" in folders


def _layers() -> list[list[str]]:
    """The layers of import-linter, each with its rooms."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    layers = next(each["layers"] for each in contracts if each.get("containers") == ["messor"])
    return [re.findall(r"\w+", layer) for layer in layers]


def test_layers_are_listed_in_their_order() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    listed = [
        [name.removesuffix(".py") for name in re.findall("`([^`]+)`", line)]
        for line in re.findall(r"^\d+\. (.*)$", text, re.MULTILINE)
    ]
    assert listed == _layers()


def test_the_picture_shows_every_room_in_order() -> None:
    picture = (ROOT / "docs" / "rooms.svg").read_text(encoding="utf-8")
    drawn = re.findall(r'<text class="name"[^>]*>(\w+)(?:/|\.py)<', picture)
    assert drawn == [room for layer in _layers() for room in layer]


def test_every_option_of_a_domains_terms_is_described() -> None:
    for option in configure.params:
        if option.name not in ("domain", "as_json", "output"):
            assert f"`{option.opts[0]}" in OPERATIONS


def test_every_room_has_its_tests_and_no_storage_is_committed() -> None:
    for room in (ROOT / "src" / "messor").iterdir():
        if (room / "__init__.py").exists():
            assert list((ROOT / "tests" / room.name).glob("test_*.py")), room.name
    assert "storage/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
