"""Event types are declared once: code, documentation and declaration name the same ones."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from messor.ledger.event_types import EVENT_TYPES

ROOT = Path(__file__).resolve().parents[2]
RECORDERS = {"Event", "_event", "_record_event"}
TYPE = re.compile(r"[a-z_]+\.[a-z_]+")


def _recorded() -> Iterator[str]:
    """The event types that the source records by name."""
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in RECORDERS:
                yield from (
                    each.value
                    for each in node.args
                    if isinstance(each, ast.Constant)
                    and isinstance(each.value, str)
                    and TYPE.fullmatch(each.value)
                )


def test_every_recorded_type_is_declared() -> None:
    recorded = set(_recorded())
    assert len(recorded) > 60
    assert recorded <= EVENT_TYPES.keys()


def test_the_documentation_has_one_row_for_each_type() -> None:
    text = (ROOT / "docs" / "events.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z_.]+)` \| (.+) \| (.+) \|$", text, re.MULTILINE)
    assert rows == [(each.name, each.meaning, each.audience) for each in EVENT_TYPES.values()]
