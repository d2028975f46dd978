"""Parses a vertical's TOML file; errors name the file, the line and the key."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from messor.errors import NotFoundError, UsageError
from messor.verticals.model import Vertical

SHIPPED = ("business_profiles", "community_resources", "funding", "products", "wellness")
MAX_BYTES = 2_000_000
_MAX_FAULTS = 10


@dataclass(frozen=True, slots=True)
class VerticalFile:
    """A vertical and its source text."""

    vertical: Vertical
    source: str

    @property
    def source_hash(self) -> bytes:
        return sha256(self.source.encode()).digest()


def understand(source: str, name: str) -> VerticalFile:
    """Parse a vertical; `name` stands for the text in errors."""
    try:
        table = tomllib.loads(source)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{name} is not valid TOML: {error}") from error
    try:
        return VerticalFile(Vertical.model_validate(table), source)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        message = [f"{name}{_place(source, fault['loc'])}: {_words(fault)}" for fault in faults]
        more = len(message) - _MAX_FAULTS
        tail = [f"and {more} more"] if more > 0 else []
        raise UsageError("; ".join(message[:_MAX_FAULTS] + tail) + ".") from error


def read(path: Path) -> VerticalFile:
    """Read a file of the operator's own."""
    try:
        body = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    if len(body) > MAX_BYTES:
        raise UsageError(f"{path} is longer than {MAX_BYTES} bytes.")
    try:
        return understand(body.decode("utf-8"), str(path))
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8: byte {error.start} is invalid.") from error


def shipped(name: str) -> VerticalFile:
    """A vertical that ships with Messor."""
    if name not in SHIPPED:
        raise NotFoundError(f"Unknown vertical {name!r}; Messor ships with {all_shipped()}.")
    text = (files("messor.verticals") / "shipped" / f"{name}.toml").read_text("utf-8")
    return understand(text, f"{name}.toml")


def find(name_or_path: str) -> VerticalFile:
    """A shipped vertical by name, or a file by path."""
    if name_or_path in SHIPPED:
        return shipped(name_or_path)
    if "/" in name_or_path or name_or_path.endswith(".toml"):
        return read(Path(name_or_path))
    raise NotFoundError(f"{name_or_path!r} is neither a file (*.toml) nor one of {all_shipped()}.")


def all_shipped() -> str:
    return ", ".join(SHIPPED)


def _words(fault: Any) -> str:
    message: str = fault["msg"]
    return message.removeprefix("Value error, ").rstrip(".")


def _place(source: str, loc: tuple[int | str, ...]) -> str:
    """A key's location, as ", line 12, key services[0].name"."""
    if not loc:
        return ""
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc)
    line = line_of(source, loc)
    where = f", line {line}" if line is not None else ""
    return f"{where}, key {key.lstrip('.')}"


def line_of(source: str, loc: tuple[int | str, ...]) -> int | None:
    """The line of a key, or of the table that lacks it; None if neither is found."""
    lines = source.splitlines()
    best: int | None = None
    first, last = 0, len(lines)
    table: list[str] = []
    for part in loc:
        if isinstance(part, int):
            found = _nth_table(lines, ".".join(table), part)
            if found is None:
                break
            first, last = found
            best = first + 1
            continue
        table.append(part)
        named = _table(lines, ".".join(table))
        if named is not None:
            first, last = named
            best = first + 1
            continue
        number = _key(lines, part, first, last)
        if number is not None:
            best = number + 1
    return best


def _headers(lines: list[str]) -> list[tuple[int, str]]:
    return [
        (number, match[1].replace('"', "").replace(" ", ""))
        for number, line in enumerate(lines)
        if (match := re.match(r"\s*\[{1,2}([^\[\]]+)\]{1,2}\s*(?:#.*)?$", line))
    ]


def _table(lines: list[str], name: str) -> tuple[int, int] | None:
    return _nth_table(lines, name, 0)


def _nth_table(lines: list[str], name: str, index: int) -> tuple[int, int] | None:
    headers = _headers(lines)
    places = [place for place, (_, header) in enumerate(headers) if header == name]
    if index >= len(places):
        return None
    place = places[index]
    end = headers[place + 1][0] if place + 1 < len(headers) else len(lines)
    return headers[place][0], end


def _key(lines: list[str], key: str, first: int, last: int) -> int | None:
    pattern = re.compile(rf'\s*"?{re.escape(key)}"?\s*[=.]')
    return next((n for n in range(first, last) if pattern.match(lines[n])), None)
