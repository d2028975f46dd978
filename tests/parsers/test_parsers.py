"""Parsers: found, ordered and chosen by version; those of other packages the same way as ours."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from messor.content.evidence import Evidence, EvidencedField
from messor.content.records import Record
from messor.content.validation import UNPROVEN
from messor.content.view import PageView
from messor.errors import UsageError
from messor.parsers import BUILTIN, Parser, Parsers, registry
from messor.parsers.page_reading import PageExtraction, read_records
from messor.parsers.registry import UnknownParserError
from messor.parsers.scaffold import scaffold
from tests.parsers.test_page_reading import PRODUCT, URL


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


def test_what_others_bring_is_asked_before_ours() -> None:
    """Also where ours know the site, as with Amazon's, and whatever their names are."""
    parsers = Parsers([*BUILTIN, Theirs(lambda _: []), Versioned("zebra")])
    assert [parser.name for parser in parsers] == [
        "theirs", "amazon", "zebra", "products", "generic",
    ]  # fmt: skip


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
    with pytest.raises(UnknownParserError, match="available: notes"):
        parsers.get("nothing")
    with pytest.raises(UnknownParserError, match="available: 1"):
        parsers.get("notes", "2")


def test_two_of_one_name_and_version_are_refused() -> None:
    parsers = Parsers([Versioned()])
    with pytest.raises(UsageError, match=r"two parsers called notes 1 \(in tests.parsers"):
        parsers.add(Versioned())


@pytest.mark.parametrize(
    "part, said",
    [("name", ""), ("name", "a=b"), ("version", 3), ("kinds", ["contact"]), ("kinds", "contact"),
     ("kinds", frozenset()), ("kinds", {1})],
)  # fmt: skip
def test_what_the_protocol_does_not_allow_is_refused_in_a_sentence(part: str, said: object) -> None:
    parser = Versioned()
    setattr(parser, part, said)
    with pytest.raises(UsageError, match=f"Versioned is not a parser: its {part}"):
        Parsers([parser])


class Theirs:
    """A parser of one site that answers whatever it is told to."""

    name = "theirs"
    version = "3"
    kinds = frozenset(("product", "image"))
    is_generic = False

    def __init__(self, answer: Callable[[PageView], Any]) -> None:
        self._answer = answer

    def accepts(self, page: PageView) -> bool:
        return bool(page.url)

    def parse(self, page: PageView) -> list[Record]:
        records: list[Record] = self._answer(page)
        return records


def read_by(answer: Callable[[PageView], Any]) -> PageExtraction:
    return read_records(PRODUCT, URL, parsers=Parsers([*BUILTIN, Theirs(answer)]))


def product(page: PageView) -> Record:
    return BUILTIN[1].parse(page)[0]


UNQUOTED: Any = Evidence("text:text", "K", 3)  # type: ignore[arg-type]
NONSENSE: dict[str, Callable[[PageView], Any]] = {
    "nothing": lambda _: None,
    "a str": lambda page: page.url,
    "a dict": lambda page: {"product": product(page)},
    "a dict among": lambda page: [product(page), {"price": 3}],
    "a failure on the way": lambda page: (1 / 0 for _ in page.url),
    "no fields": lambda page: [replace(product(page), fields=None)],  # type: ignore[arg-type]
    "no field": lambda page: [replace(product(page), fields={"price": 3})],  # type: ignore[dict-item]
    "no evidence": lambda page: [
        replace(product(page), fields={"price": EvidencedField(3, 1, UNQUOTED)})
    ],
    "not sure": lambda page: [replace(product(page), confidence=float("nan"))],
    "too sure": lambda page: [replace(product(page), confidence="high")],  # type: ignore[arg-type]
}


@pytest.mark.parametrize("answer", NONSENSE.values(), ids=NONSENSE.keys())
def test_an_answer_that_is_none_is_a_failure_of_its_parser_alone(
    answer: Callable[[PageView], Any],
) -> None:
    found = read_by(answer)
    assert len(found.warnings) == 1
    assert found.warnings[0].startswith("theirs 3: could not be read")
    assert {(record.kind, record.parser) for record in found.records} >= {
        ("product", "products"),
        ("contact", "generic"),
    }


def test_a_field_that_the_page_does_not_prove_is_not_believed() -> None:
    invented = EvidencedField(3.5, 1.0, Evidence("text:amount", "3.50"))
    misread = EvidencedField(18.9, 1.0, Evidence("json_ld:amount", "19.90"))

    def answer(page: PageView) -> list[Record]:
        made = product(page)
        return [replace(made, fields={**made.fields, "price": misread, "list_price": invented})]

    found = read_by(answer)
    assert found.warnings == []
    assert found.records[0].value("price") is None
    assert found.records[0].value("sku") == "K-1"
    assert {(each.field, each.reason) for each in found.rejected} == {
        ("price", UNPROVEN),
        ("list_price", UNPROVEN),
    }


def test_what_a_parser_answers_goes_by_its_own_name_and_version() -> None:
    found = read_by(BUILTIN[1].parse)
    assert {(one.parser, one.parser_version) for one in found.records if one.kind == "product"} == {
        ("theirs", "3")
    }


@pytest.mark.parametrize("value", ["test_parsers:make", "test_parsers:Versioned"])
def test_entry_points_bring_parsers(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("theirs", f"tests.parsers.{value}", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry] if group else [])
    assert {parser.name for parser in Parsers.installed()} & {"made", "notes"}


@pytest.mark.parametrize("value", ["test_parsers:nothing", "no.such.module:x", "test_parsers:URL"])
def test_a_parser_that_cannot_be_loaded_is_named(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = EntryPoint("theirs", f"tests.parsers.{value}", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry] if group else [])
    with pytest.raises(UsageError, match="theirs"):
        Parsers.installed()


class Half:
    """Part of a parser."""

    name = "half"
    version = "1"
    is_generic = True

    def accepts(self, page: PageView) -> bool:
        return bool(page.url)


def leave() -> None:
    raise SystemExit(7)


def test_what_a_parser_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for value, words in (("Half", "it has no kinds and no parse"), ("leave", "cannot be loaded")):
        entry = EntryPoint("theirs", f"tests.parsers.test_parsers:{value}", registry.GROUP)
        monkeypatch.setattr(registry, "entry_points", lambda group, one=entry: [one])
        with pytest.raises(UsageError, match=words):
            Parsers.installed()


NO_SHOP = """<!doctype html><html lang="en"><title>Clinic</title><h1>Riverside Clinic</h1>
<p>Call us: <a href="tel:+493012345678">030 12345678</a>, or write to
<a href="mailto:desk@clinic.example">desk@clinic.example</a>.</p></html>"""


@pytest.mark.parametrize("html, values", [(PRODUCT, "19.9"), (NO_SHOP, "desk@clinic.example")])
def test_a_new_parser_passes_its_own_test(html: str, values: str, tmp_path: Path) -> None:
    folder = tmp_path / "parser"
    files = scaffold(folder, "shop.example", URL, html.replace("\n", "\r\n"))
    assert values in (folder / "tests" / "expected.json").read_text()
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
