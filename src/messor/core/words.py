"""Word lists: TOML files in the `data` folder of a room, made to be edited by anybody.

A module loads its list once, at import, and never changes it. What the words mean, and how they are
written there, is said at the top of each file.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any


def load(package: str, name: str) -> dict[str, Any]:
    """Return the content of `data/NAME.toml` in a package."""
    return tomllib.loads((files(package) / "data" / f"{name}.toml").read_text("utf-8"))


def phrases(text: str, separator: str = ",") -> tuple[str, ...]:
    """Return the phrases of a text, in order; line breaks separate them as well."""
    parts = text.replace("\n", separator).split(separator)
    return tuple(phrase for part in parts if (phrase := part.strip()))
