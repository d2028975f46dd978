"""A progress line for long-running commands."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import click

from messor.core.terminal import say, shown

# Pause between lines without a terminal: short at first, because most runs are short.
FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.5, 5.0


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
