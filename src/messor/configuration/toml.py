"""Writes tables as TOML; the standard library only reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def section(name: str, tables: Mapping[str, Mapping[str, Any]]) -> str:
    """The tables of a section, each under its key; the section itself is named if it has none."""
    if not tables:
        return f"[{name}]\n"
    return "\n".join(_table(f"{name}.{_key(key)}", table) for key, table in tables.items())


def _table(head: str, table: Mapping[str, Any]) -> str:
    lines = [f"[{head}]", *(f"{_key(key)} = {_value(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(key)} = {_value(each)}" for key, each in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, Sequence):
        return f"[{', '.join(map(_value, value))}]"
    raise TypeError(f"TOML has no {type(value).__name__}")


def _text(text: str) -> str:
    """A basic string: JSON's escapes are TOML's too, but for the one character that JSON leaves."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")
