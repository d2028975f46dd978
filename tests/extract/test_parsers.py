"""Parsers: found, ordered and chosen by version; those of other packages the same way as ours."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from messor.errors import UsageError
from messor.extract.parsers import BUILTIN, Parser, Parsers, registry
from messor.extract.parsers.registry import UnknownParserError
from messor.extract.parsers.scaffold import scaffold
from messor.extract.records import Record
from messor.extract.view import PageView
from tests.extract.test_reading import PRODUCT, URL


class Versioned:
    """A parser of a given version."""

    kinds = frozenset(("contact",))
    is_generic = True

    def __init__(self, name: str = "notes", version: str = "1") -> None:
        self.name = name
        self.version = version

    def accepts(self, page: PageView) -> bool:
        return bool(page.url)

    def parse(self, page: PageView) -> list[Record]:
        del page
        return []


def make() -> Versioned:
    """As an entry point may name it."""
    return Versioned("made", "7")


def test_ours_keep_to_the_protocol() -> None:
    assert all(isinstance(parser, Parser) for parser in BUILTIN)
    assert [parser.name for parser in Parsers()] == ["amazon", "products", "generic"]


def test_the_newest_version_reads_unless_another_is_pinned() -> None:
    parsers = Parsers([Versioned(version=version) for version in ("2", "10", "9", "11rc1")])
    assert [parser.version for parser in parsers.chosen()] == ["10"]
    assert [parser.version for parser in parsers.chosen(pins={"notes": "11rc1"})] == ["11rc1"]
    assert [parser.version for parser in parsers] == ["11rc1", "10", "9", "2"]


def test_a_candidate_alone_reads_nothing_until_it_is_pinned() -> None:
    parsers = Parsers([Versioned(version="1-candidate")])
    assert parsers.chosen() == []
    assert len(parsers.chosen(pins={"notes": "1-candidate"})) == 1


def test_what_is_not_there_is_named() -> None:
    parsers = Parsers([Versioned()])
    with pytest.raises(UnknownParserError, match="there are notes"):
        parsers.get("nothing")
    with pytest.raises(UnknownParserError, match="there are 1"):
        parsers.get("notes", "2")


def test_two_of_one_name_and_version_are_refused() -> None:
    parsers = Parsers([Versioned()])
    with pytest.raises(UsageError, match="two parsers"):
        parsers.add(Versioned())


@pytest.mark.parametrize("value", ["test_parsers:make", "test_parsers:Versioned"])
def test_entry_points_bring_parsers(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("theirs", f"tests.extract.{value}", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry] if group else [])
    assert {parser.name for parser in Parsers.installed()} & {"made", "notes"}


@pytest.mark.parametrize("value", ["test_parsers:nothing", "no.such.module:x", "test_parsers:URL"])
def test_a_parser_that_cannot_be_loaded_is_named(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = EntryPoint("theirs", f"tests.extract.{value}", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry] if group else [])
    with pytest.raises(UsageError, match="theirs"):
        Parsers.installed()


def test_a_new_parser_passes_its_own_test(tmp_path: Path) -> None:
    folder = tmp_path / "parser"
    files = scaffold(folder, "shop.example", URL, PRODUCT.replace("\n", "\r\n"))
    assert {path.name for path in files} >= {"pyproject.toml", "test_parser.py", "page.html"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=folder,
        env={"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    with pytest.raises(UsageError, match="not empty"):
        scaffold(folder, "shop.example", URL, PRODUCT)
