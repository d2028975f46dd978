"""One line that tells how far a command is."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import click

from messor.core.terminal import say, shown

# Between lines where nobody watches: soon at first, for most runs are short.
FIRST_TELL_SECONDS, TELL_SECONDS = 0.5, 5.0


def progress_line(text: Callable[[Any], str]) -> Callable[[Any], None]:
    """One line that is written over on a terminal; elsewhere a line now and then."""
    told, pause = time.monotonic(), FIRST_TELL_SECONDS

    def tell(given: Any) -> None:
        nonlocal told, pause
        if _is_live():
            click.echo(f"\r\x1b[K{shown(text(given))}"[:160], nl=False, err=True)
        elif time.monotonic() - told >= pause:
            told, pause = time.monotonic(), min(2 * pause, TELL_SECONDS)
            say(text(given))

    return tell


def end_line() -> None:
    """Leave the line as it is; what is said next stands below it."""
    if _is_live():
        click.echo(err=True)


def _is_live() -> bool:
    return sys.stderr.isatty()
