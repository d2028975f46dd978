"""Output: data on stdout for machines or people, everything else on stderr.

Much of what is printed was written by strangers. What a terminal would obey instead of showing it
is replaced wherever people read. JSON has it escaped instead, so that its data stay the same; log
lines and tracebacks go the same way.
"""

from __future__ import annotations

import asyncio
import io
import os
import re
import stat
import sys
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any, TypeVar

import click
import msgspec

from messor.core.terminal import escaped, say, shown
from messor.errors import UsageError

OUTPUT = "messor.output"
_BREAKS = re.compile(r"\s*[\n\t]\s*")

Answer = TypeVar("Answer")
Command = TypeVar("Command", bound=Callable[..., Any])


def json_option(command: Command) -> Command:
    """The options of every command that prints data: `--json`, and `-o FILE`."""
    to_file = click.option(
        "-o",
        "--output",
        type=click.Path(dir_okay=False, writable=True),
        expose_value=False,
        is_eager=True,
        callback=_print_to,
        help="Write the data to a file instead of stdout.",
    )
    as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
    return as_json(to_file(command))


def _print_to(context: click.Context, _: click.Parameter, path: str | None) -> None:
    if path is None:
        return
    try:
        file = open(path, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - closed with the context
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
    tell_if_shared(file.fileno(), path)
    context.find_root().meta[OUTPUT] = file
    context.call_on_close(file.close)


def tell_if_shared(fd: int, path: str) -> None:
    """New files are their owner's alone; one that was there keeps the rights it was given."""
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode):
        return
    if found.st_uid != os.geteuid():
        say(f"{path} was there before and belongs to another user, who can read it.")
    elif found.st_mode & 0o044:
        say(f"{path} was there before and can be read by others. To close it: chmod 600 {path}")


def emit(line: str, *, bold: str = "") -> None:
    """A line of data for people, after its `bold` beginning: to stdout, or to the file given by `-o`."""
    _write(f"{click.style(shown(bold), bold=True) if bold else ''}{shown(line)}")


def emit_json(value: Any) -> None:
    """One JSON value as one line, for streams of them."""
    _write(_as_json(value))


def _write(line: str) -> None:
    context = click.get_current_context(silent=True)
    file = context.find_root().meta.get(OUTPUT) if context else None
    click.echo(line, file=file)


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
    _write(msgspec.json.format(_as_json(value), indent=2))


def _as_json(value: Any) -> str:
    return escaped(msgspec.json.encode(value, enc_hook=str).decode())


def print_table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Columns as wide as they need to be."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [
        max([len(name), *(len(row[index]) for row in cells)]) for index, name in enumerate(head)
    ]
    for line in ([name.upper() for name in head], *cells):
        text = "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        emit(text.rstrip())


def show_error(error: click.ClickException) -> None:
    """What click says of a wrong call: it repeats what was typed or pasted."""
    told = io.StringIO()
    error.show(file=told)
    say(told.getvalue().rstrip("\n"))


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if hasattr(value, "strftime"):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    # A line end within a cell would pass for another row.
    return shown(_BREAKS.sub(" ", str(value)))
