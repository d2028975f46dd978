"""Outcomes are declared and decided in one module, and documented as declared."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from messor.fetch.gates.verdict import Block, GateVerdict
from messor.fetch.outcome import OK, FetchResult, Outcome, failed, of_response

ROOT = Path(__file__).resolve().parents[2]
HTML = {"Content-Type": "text/html"}


def _assigns(path: Path) -> list[int]:
    """The lines that put an outcome somewhere, instead of comparing with it."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        given: list[ast.expr | None] = []
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.Return):
            given = [node.value]
        elif isinstance(node, ast.Call):
            given = [*node.args, *(each.value for each in node.keywords)]
        parts = [part for each in given for part in getattr(each, "elts", [each])]
        found += [
            part.lineno
            for part in parts
            if isinstance(part, ast.Attribute) and getattr(part.value, "id", "") == "Outcome"
        ]
    return found


def test_no_other_module_decides_an_outcome() -> None:
    sources = [
        path
        for path in (ROOT / "src" / "messor").rglob("*.py")
        if "fetch.outcome import" in path.read_text(encoding="utf-8")
    ]
    assert len(sources) > 20
    assert {str(path): lines for path in sources if (lines := _assigns(path))} == {}


def test_the_glossary_lists_them_as_declared() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    table = text.partition("## Outcomes of a fetch")[2].partition("\nAfter")[0]
    rows = re.findall(r"^\| ([a-z_]+) \| (.+) \| (.+) \|$", table, re.MULTILINE)[1:]
    assert [(name, meaning) for name, meaning, _ in rows] == [
        (each.value, each.meaning) for each in Outcome
    ]
    assert [follows.startswith("retry") for *_, follows in rows] == [
        each.is_retryable for each in Outcome
    ]


@pytest.mark.parametrize(
    "status, body, outcome",
    [
        (200, b"<p>x", Outcome.OK),
        (200, b" ", Outcome.EMPTY),
        (304, b"", Outcome.UNCHANGED),
        (301, b"", Outcome.REDIRECTED),
        (410, b"", Outcome.NOT_FOUND),
        (429, b"", Outcome.BLOCKED),
        (500, b"", Outcome.ERROR),
    ],
)
def test_a_response_is_classified(status: int, body: bytes, outcome: Outcome) -> None:
    assert of_response(status, HTML, body).outcome is outcome


def test_a_failure_has_the_outcome_of_its_type() -> None:
    types = ("timeout", "refused_address", "too_large", "not_html", "blocked", "dns", "tls")
    assert [failed(each, "why").outcome for each in types] == [
        Outcome.TIMEOUT, Outcome.REFUSED_ADDRESS, Outcome.TOO_LARGE, Outcome.NOT_HTML,
        Outcome.BLOCKED, Outcome.ERROR, Outcome.ERROR,
    ]  # fmt: skip


def test_findings_leave_the_result_they_were_made_of() -> None:
    block = GateVerdict((), Block("challenge:x", "a mark"), ())
    refused = FetchResult(Outcome.ERROR, "the site returned 500")
    assert refused.judged_refusal(block).error == "the site returned 500 (challenge:x: a mark)"
    assert refused.judged_refusal(GateVerdict()) is refused
    assert OK.judged(block).outcome is Outcome.BLOCKED
    assert OK.judged(GateVerdict(("soft_404",), None, ())).outcome is Outcome.NOT_FOUND
    assert OK.redirected("/b").left_domain().outcome is Outcome.REDIRECTED_OUT
    assert OK.left_domain() is OK
    assert FetchResult() == OK
