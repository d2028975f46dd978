"""Event types are declared once: code, documentation and declaration name the same ones."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from messor.ledger.event_types import EVENT_TYPES, GROUPS

ROOT = Path(__file__).resolve().parents[2]
TYPE = re.compile(rf"({'|'.join(GROUPS)})\.[a-z_]+")
OTHERS = {"webhook.ping"}  # sent to one webhook, never recorded


def _named() -> Iterator[str]:
    """The event types that modules name which record or read events."""
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "messor.ledger" in text:
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield from (node.value,) if TYPE.fullmatch(node.value) else ()


def test_every_named_type_is_declared() -> None:
    named = set(_named()) - OTHERS
    assert len(named) > 80
    assert named <= EVENT_TYPES.keys()


def test_the_documentation_has_one_row_for_each_type() -> None:
    text = (ROOT / "docs" / "events.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z_.]+)` \| (.+) \| (.+) \|$", text, re.MULTILINE)
    assert rows == [(each.name, each.meaning, each.audience) for each in EVENT_TYPES.values()]
