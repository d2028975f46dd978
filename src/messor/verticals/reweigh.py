"""Changes weights and version in the text of a vertical's file.

What cannot be changed safely is refused; the result is parsed again and compared.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from messor.errors import UsageError
from messor.verticals.files import VerticalFile, understand
from messor.verticals.verticals import Applied

_VERSION = re.compile(r"^(\s*version\s*=\s*)[\d_]+", re.MULTILINE)
_SCORING = re.compile(r"^\[scoring\][^\n]*\n(?:(?!^\[)[^\n]*\n?)*", re.MULTILINE)
_INLINE = re.compile(r"^\s*weights\s*=\s*\{[^{}\n]*\}[^\n]*$", re.MULTILINE)
_TABLE = re.compile(r"^\[scoring\.weights\][^\n]*\n(?:(?!^\[)[^\n]*\n?)*", re.MULTILINE)
_JUDGES = re.compile(r"^\[judges\][^\n]*\n(?:(?!^\[)[^\n]*\n?)*", re.MULTILINE)


def with_weights(applied: Applied, weights: Mapping[str, float]) -> VerticalFile:
    """The text of a vertical's next version with these weights of score components."""
    wanted = {**applied.vertical.scoring.weights, **weights}
    version = applied.vertical.version + 1
    source = _VERSION.sub(rf"\g<1>{version}", applied.source, count=1)
    source = _TABLE.sub(lambda _: _table("scoring.weights", wanted), source, count=1)
    source = _SCORING.sub(
        lambda found: _INLINE.sub(lambda _: _inline(wanted), found[0], count=1), source, count=1
    )
    scoring = applied.vertical.scoring.model_copy(update={"weights": wanted})
    return _checked(applied, source, {"version": version, "scoring": scoring})


def with_judges(applied: Applied, weights: Mapping[str, float]) -> VerticalFile:
    """The text of a vertical's next version with these weights of judges."""
    version = applied.vertical.version + 1
    source = _VERSION.sub(rf"\g<1>{version}", applied.source, count=1)
    source = _JUDGES.sub(lambda _: _table("judges", weights), source, count=1)
    return _checked(applied, source, {"version": version, "judges": dict(weights)})


def _checked(applied: Applied, source: str, changes: dict[str, Any]) -> VerticalFile:
    """The parsed text, if it has the changes and no other."""
    file = understand(source, f"{applied.vertical.name}.toml")
    if file.vertical != applied.vertical.model_copy(update=changes):
        raise UsageError(
            "The weights in this vertical's file cannot be changed automatically: "
            "export it, change it, and apply it."
        )
    return file


def _inline(weights: Mapping[str, float]) -> str:
    inside = ", ".join(f"{name} = {float(weight)!r}" for name, weight in weights.items())
    return f"weights = {{ {inside} }}"


def _table(name: str, weights: Mapping[str, float]) -> str:
    lines = [f"{name} = {float(weight)!r}" for name, weight in weights.items()]
    return "\n".join([f"[{name}]", *lines, "", ""])
