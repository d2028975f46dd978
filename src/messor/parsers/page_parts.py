"""What was taken of an archived page and what was left out, read in a confined child.

A page may be made to crash its parser: a console that shows it must survive that.
"""

from __future__ import annotations

import sys

import msgspec

from messor.content.documents.errors import DocumentError
from messor.content.main.parts import ContentParts, read_parts
from messor.errors import UnavailableError
from messor.parsers.page_text import confine, run_confined, text_of
from messor.web.html import TooComplexError

__all__ = ["ContentParts", "parts_of"]

_REFUSED = 3  # exit code: the page cannot be read, standard output says why


def parts_of(body: bytes, content_type: str | None, url: str) -> ContentParts:
    """Return the parts of a page's bytes; raises UnavailableError if they cannot be read."""
    done = run_confined(__name__, [content_type or "", url], body)
    if done is not None and done.returncode == 0:
        return msgspec.json.decode(done.stdout, type=ContentParts)
    if done is not None and done.returncode == _REFUSED:
        raise UnavailableError(done.stdout.decode())
    raise UnavailableError(
        "Reading this page again crashed or took too long, so its parts are not shown."
    )


def main() -> int:
    """Read the page on standard input, confined."""
    content_type, url = sys.argv[1] or None, sys.argv[2]
    body = sys.stdin.buffer.read()
    confine()
    try:
        found, code = (
            msgspec.json.encode(read_parts(text_of(body, content_type, is_confined=True), url)),
            0,
        )
    except (DocumentError, TooComplexError) as error:
        found, code = f"This page cannot be read: {error}".encode(), _REFUSED
    sys.stdout.buffer.write(found)
    sys.stdout.buffer.flush()
    return code


if __name__ == "__main__":
    sys.exit(main())
