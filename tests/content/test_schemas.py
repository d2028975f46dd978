"""The published schemas are those of the models, and every kind that is read has one."""

from __future__ import annotations

from pathlib import Path

from messor.content.evidence import Evidence, EvidencedField
from messor.content.kinds import KINDS
from messor.content.records import Record
from messor.content.schemas.__main__ import main
from messor.content.schemas.files import schema_files
from messor.parsers import BUILTIN

DOCS = Path(__file__).resolve().parents[2] / "docs" / "records"


def test_docs_are_up_to_date() -> None:
    for name, text in schema_files().items():
        path = DOCS / name
        assert path.exists(), f"write it: python -m messor.content.schemas {DOCS}"
        assert path.read_text() == text, f"write it: python -m messor.content.schemas {DOCS}"


def test_every_kind_has_a_schema() -> None:
    made = frozenset().union(*[parser.kinds for parser in BUILTIN])
    assert {f"{kind}.json" for kind in made} == schema_files().keys()


def test_writing(tmp_path: Path) -> None:
    main(tmp_path / "records")
    assert {path.name for path in (tmp_path / "records").iterdir()} == schema_files().keys()


def test_problems_are_told() -> None:
    evidence = Evidence("html:text", "x")
    bad = Record(
        "contact",
        0.5,
        "p",
        "1",
        {"phone": EvidencedField("12", 0.5, evidence), "age": EvidencedField(3, 0.5, evidence)},
    )
    assert len(KINDS["contact"].problems(bad)) == 2
