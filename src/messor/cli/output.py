"""Output: data on stdout for machines or people, everything else on stderr."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any, TypeVar

import click
import msgspec

Answer = TypeVar("Answer")
Command = TypeVar("Command", bound=Callable[..., Any])


def json_option(command: Command) -> Command:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")(command)


def run(work: Coroutine[Any, Any, Answer]) -> Answer:
    """Run a command's coroutine on the fastest loop there is."""
    if sys.platform == "win32":
        return asyncio.run(work)
    import uvloop  # noqa: PLC0415 - not made for every platform

    return uvloop.run(work)


def print_json(value: Any) -> None:
    """One JSON value on stdout."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    click.echo(msgspec.json.format(msgspec.json.encode(value, enc_hook=str), indent=2).decode())


def print_table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Columns as wide as they need to be."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [
        max([len(name), *(len(row[index]) for row in cells)]) for index, name in enumerate(head)
    ]
    for line in ([name.upper() for name in head], *cells):
        text = "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        click.echo(text.rstrip())


def say(text: str) -> None:
    """Tell a person something, on stderr."""
    click.echo(text, err=True)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if hasattr(value, "strftime"):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    return str(value)
