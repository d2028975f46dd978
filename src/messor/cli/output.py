"""Output: data on stdout as text or JSON, everything else on stderr.

Much of the output is untrusted text from the web. Terminal control characters are replaced in
text output, log lines and tracebacks; in JSON they are escaped, so that the data stay the same.
"""

from __future__ import annotations

import asyncio
import io
import os
import re
import stat
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any, TypeVar

import click
import msgspec

from messor.core.terminal import escaped, say, shown
from messor.errors import UsageError

OUTPUT = "messor.output"
_ENCODER = msgspec.json.Encoder(enc_hook=str, decimal_format="number")
_BREAKS = re.compile(r"\s*[\n\t]\s*")

Result = TypeVar("Result")
Item = TypeVar("Item")
Command = TypeVar("Command", bound=Callable[..., Any])


# Pause between lines without a terminal: short at first, because most runs are short.
FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.5, 5.0


def json_option(command: Command) -> Command:
    """Add the options of every command that prints data: `--json` and `-o FILE`."""
    to_file = click.option(
        "-o",
        "--output",
        type=click.Path(dir_okay=False, writable=True),
        expose_value=False,
        is_eager=True,
        callback=print_to,
        help="Write the output to a file instead of stdout.",
    )
    return json_flag(to_file(command))


json_flag = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def print_to(context: click.Context, _: click.Parameter, path: str | None) -> None:
    """Send the command's data to a file."""
    if path is None:
        return
    try:
        file = open(path, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - closed with the context
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.") from error
    warn_if_readable(file.fileno(), path)
    context.find_root().meta[OUTPUT] = file
    context.call_on_close(file.close)


def warn_if_readable(fd: int, path: str) -> None:
    """Warn if others can read the file: an existing file keeps its permissions."""
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode):
        return
    if found.st_uid != os.geteuid():
        say(f"{path} already existed and belongs to another user, who can read it.")
    elif found.st_mode & 0o044:
        say(f"{path} already existed and other users can read it. To restrict it: chmod 600 {path}")


def emit(line: str, *, bold: str = "") -> None:
    """Print a line of text, with `bold` before it, to stdout or the file given by `-o`."""
    _write(f"{click.style(shown(bold), bold=True) if bold else ''}{shown(line)}")


def emit_json(value: Any) -> None:
    """Print a JSON value on one line, for streams."""
    _write(_as_json(value))


def _write(line: str) -> None:
    context = click.get_current_context(silent=True)
    file = context.find_root().meta.get(OUTPUT) if context else None
    click.echo(line, file=file)


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a command's coroutine, on uvloop where it is available."""
    if sys.platform == "win32":
        return asyncio.run(work)
    import uvloop  # noqa: PLC0415 - not available on every platform

    return uvloop.run(work)


def print_json(value: Any) -> None:
    """Print a JSON value, indented."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    _write(msgspec.json.format(_as_json(value), indent=2))


def _as_json(value: Any) -> str:
    return escaped(_ENCODER.encode(value).decode())


def print_item(
    value: Item, as_json: bool, head: Sequence[str], row: Callable[[Item], Sequence[Any]]
) -> None:
    """Print one value, as JSON or as a table of one row."""
    if as_json:
        print_json(value)
    else:
        print_table(head, [row(value)])


def print_table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table with columns as wide as their widest cell."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [
        max([len(name), *(len(row[index]) for row in cells)]) for index, name in enumerate(head)
    ]
    for line in ([name.upper() for name in head], *cells):
        text = "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        emit(text.rstrip())


def show_error(error: click.ClickException) -> None:
    """Print click's message through `say`: it repeats what was typed or pasted."""
    message = io.StringIO()
    error.show(file=message)
    say(message.getvalue().rstrip("\n"))


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if hasattr(value, "strftime"):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    # A line break within a cell would look like another row.
    return shown(_BREAKS.sub(" ", str(value)))


def progress_line(text: Callable[[Any], str]) -> Callable[[Any], None]:
    """Return a callback that updates one line on a terminal, or prints occasional lines."""
    printed_at, pause = time.monotonic(), FIRST_PAUSE_SECONDS

    def report(given: Any) -> None:
        nonlocal printed_at, pause
        if _is_terminal():
            click.echo(f"\r\x1b[K{shown(text(given))}"[:160], nl=False, err=True)
        elif time.monotonic() - printed_at >= pause:
            printed_at, pause = time.monotonic(), min(2 * pause, MAX_PAUSE_SECONDS)
            say(text(given))

    return report


def end_line() -> None:
    """End the progress line, so that further output starts below it."""
    if _is_terminal():
        click.echo(err=True)


def _is_terminal() -> bool:
    return sys.stderr.isatty()
