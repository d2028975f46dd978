"""Makes text safe for a terminal: control characters are replaced, or escaped in JSON.

Pages, servers and files are the source of much of what is printed.
"""

from __future__ import annotations

import contextlib
import logging
import re
import sys
import traceback
from types import TracebackType

from messor.core.masking import mask_text

# All controls except tabs and line ends (C1 too: U+009B begins a sequence as ESC [ does), Unicode
# line separators, and characters that embed, override or isolate text direction.
_OBEYED = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u2028-\u202e\u2066-\u2069]",
)
# The same in JSON, and invisible characters: zero-width, direction marks, tags. Below U+0020 JSON
# escapes by itself.
_ESCAPED = re.compile(
    r"[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e007f]"
)


def shown(text: str) -> str:
    """A text safe to print: control characters are replaced."""
    return _OBEYED.sub("\ufffd", text.replace("\r\n", "\n"))


def escaped(document: str) -> str:
    """A JSON document without control characters in its strings; its data are the same."""
    return _ESCAPED.sub(_escape, document)


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def guard_terminal() -> None:
    """Also clean log lines and tracebacks: both repeat text of pages and servers."""
    if logging.lastResort is not None:  # prints when logging is not configured
        logging.lastResort.setFormatter(CleanFormatter("%(message)s"))
    sys.excepthook = _show_traceback


class CleanFormatter(logging.Formatter):
    """Log lines without terminal control characters."""

    def format(self, record: logging.LogRecord) -> str:
        return shown(mask_text(super().format(record)))


def _show_traceback(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    told = "".join(traceback.format_exception(kind, error, trace))
    sys.stderr.write(shown(mask_text(told)))


def say(text: str) -> None:
    """Print a message to stderr; where that fails, it is dropped."""
    with contextlib.suppress(OSError):  # a full disk, or a closed terminal
        print(shown(text), file=sys.stderr, flush=True)  # noqa: T201 - what people are told
