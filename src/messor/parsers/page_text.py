"""The text of an archived page: HTML as it was decoded, a document as HTML that it was converted to.

Evidence quotes this text. The libraries that convert documents may crash on hostile files, so they
run in a child that is confined to the sandbox, unless the caller is confined itself.
"""

from __future__ import annotations

import resource
import subprocess
import sys

from messor.content.documents.errors import DocumentError
from messor.core import sandbox
from messor.web.document_formats import DocumentFormat, format_of
from messor.web.encodings import decode

SECONDS = 20  # of CPU time, for one document
MEMORY = 1024 * 1024 * 1024
_START_SECONDS = 60  # the machine may be busy
_CHILD = __name__  # the module that the child runs
_UNREADABLE = 3  # exit code: the document cannot be read, standard output says why


def text_of(body: bytes, content_type: str | None, *, is_confined: bool = False) -> str:
    """Return a page's text; raises DocumentError for a document that cannot be read.

    `is_confined`: this process may die of the document.
    """
    kind = format_of(content_type, body)
    if kind is None:
        return decode(body, content_type)[0]
    if is_confined:
        from messor.content.documents.convert import to_html  # noqa: PLC0415 - few pages need it

        return to_html(kind, body, content_type)
    return _convert_in_child(kind, body, content_type)


def _convert_in_child(kind: DocumentFormat, body: bytes, content_type: str | None) -> str:
    done = run_confined(_CHILD, [kind, content_type or ""], body)
    if done is not None and done.returncode in (0, _UNREADABLE):
        said = done.stdout.decode()
        if done.returncode == 0:
            return said
        raise DocumentError(said)
    raise DocumentError(
        f"Reading the {kind} file needs more than {MEMORY // 1_000_000} MB or {SECONDS} s, or crashed."
    )


def run_confined(
    module: str, arguments: list[str], body: bytes
) -> subprocess.CompletedProcess[bytes] | None:
    """Run a module that calls `confine` on a body; None if it did not end in time."""
    try:
        return subprocess.run(  # noqa: S603 - a module of this package
            [sys.executable, "-m", module, *arguments],
            input=body,
            capture_output=True,
            timeout=_START_SECONDS + 2 * SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None


def confine() -> None:
    """Give up files, network and everything beyond SECONDS and MEMORY, in a child."""
    sandbox.die_with_parent()
    sandbox.leave_network()
    for limit, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, SECONDS),
        (resource.RLIMIT_AS, MEMORY),
    ):
        resource.setrlimit(limit, (most, most))
    sandbox.enter(readable=sandbox.python_folders())


def main() -> int:
    """Convert the document on standard input, confined."""
    from messor.content.documents.convert import to_html  # noqa: PLC0415 - in the child alone

    kind, content_type = DocumentFormat(sys.argv[1]), sys.argv[2] or None
    body = sys.stdin.buffer.read()
    confine()
    try:
        text, code = to_html(kind, body, content_type), 0
    except DocumentError as error:
        text, code = str(error), _UNREADABLE
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()
    return code


if __name__ == "__main__":
    sys.exit(main())
