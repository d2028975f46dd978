"""How documents made by others are read: the text of each held against pdftotext or LibreOffice.

Run as `python -m bench.documents FOLDER`, where the folder holds unpacked packages, for example:

    apt-get download texlive-latex-recommended-doc gnuplot-doc debian-reference-en r-cran-readxl r-cran-officer
    for each in *.deb; do dpkg-deb -x "$each" "build/documents/${each%%_*}"; done

Every document beneath it is read as a crawl reads it, in a confined child with its limits of time and memory. A
document that is refused with a sentence is no failure; a crash, or a child that does not end, is.
"""

from __future__ import annotations

import argparse
import gzip
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

import turbohtml

from messor.content.documents.errors import DocumentError
from messor.parsers.page_text import text_of
from messor.web.document_formats import DocumentFormat, format_of

_ENDINGS = (".pdf", ".docx", ".xlsx", ".xls", ".ods", ".pptx", ".rtf", ".epub")
_SHEETS = {DocumentFormat.SHEET, DocumentFormat.OLD_SHEET, DocumentFormat.OPEN_SHEET}
_MAX_BYTES = 20_000_000
_FEW = 20  # words: a shorter text is not compared
_BROKEN = re.compile(r"-\n\s*")  # a word divided at the end of a line
_LIGATURES = str.maketrans({"ﬁ": "fi", "ﬂ": "fl", "ﬀ": "ff", "ﬃ": "ffi", "ﬄ": "ffl"})
_words = re.compile(r"[^\W_]{2,}").findall
_PATIENCE = 120


@dataclass(frozen=True)
class Result:
    """What became of one document."""

    source: str
    kind: str
    outcome: str  # read, refused, or failed
    seconds: float
    share: float | None  # of the words that the other program finds


def documents(folder: Path) -> Iterator[tuple[str, Path, bytes]]:
    """Yield the package, path and bytes of every document, the smallest first."""
    paths = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    for path in sorted(paths, key=lambda each: each.stat().st_size):
        name = path.name.lower().removesuffix(".gz")
        if name.endswith(_ENDINGS) and path.stat().st_size <= _MAX_BYTES:
            body = path.read_bytes()
            body = gzip.decompress(body) if path.suffix == ".gz" else body
            yield path.relative_to(folder).parts[0], path, body


def examine(source: str, path: Path, body: bytes) -> Result | None:
    """Read one document; None if its bytes are no document."""
    kind = format_of(None, body)
    if kind is None:
        return None
    started = time.monotonic()
    try:
        text, outcome = turbohtml.parse(text_of(body, None)).to_text(), "read"
    except DocumentError as error:
        text, outcome = "", "failed" if "or crashed" in str(error) else "refused"
        print(f"{outcome}: {source} {path.name}: {error}", file=sys.stderr)
    seconds = time.monotonic() - started
    other = by_other(kind, body) if outcome == "read" else None
    share = None if other is None else common(text, other)
    return Result(source, kind, outcome, seconds, share)


def by_other(kind: DocumentFormat, body: bytes) -> str | None:
    """Return the text as pdftotext or LibreOffice reads it; None where neither does."""
    program = "pdftotext" if kind is DocumentFormat.PDF else "soffice"
    if shutil.which(program) is None or kind is DocumentFormat.BOOK:
        return None
    with tempfile.TemporaryDirectory() as scratch:
        given = Path(scratch) / f"given.{kind}"
        given.write_bytes(body)
        if kind is DocumentFormat.PDF:
            command, made = (
                ["pdftotext", "-enc", "UTF-8", str(given), str(given.with_suffix(".txt"))],
                ".txt",
            )
        else:
            # Sheets are written whole as HTML; as text, LibreOffice writes the first sheet alone.
            made = ".html" if kind in _SHEETS or kind is DocumentFormat.SLIDES else ".txt"
            to = "html" if made == ".html" else "txt:Text (encoded):UTF8"
            profile = f"-env:UserInstallation=file://{scratch}/profile"
            command = [
                "soffice",
                profile,
                "--headless",
                "--convert-to",
                to,
                "--outdir",
                scratch,
                str(given),
            ]
        try:
            subprocess.run(command, capture_output=True, timeout=_PATIENCE, check=False)
        except subprocess.TimeoutExpired:
            return None
        found = given.with_suffix(made)
        text = found.read_text(errors="replace") if found.exists() else None
    return turbohtml.parse(text).to_text() if text is not None and made == ".html" else text


def common(text: str, other: str) -> float | None:
    """Return the share of the other's words that a text has."""
    own, wanted = (Counter(words(each)) for each in (text, other))
    return (own & wanted).total() / wanted.total() if wanted.total() >= _FEW else None


def words(text: str) -> list[str]:
    return _words(_BROKEN.sub("", text.translate(_LIGATURES)).lower())


def report(results: Sequence[Result]) -> None:
    """Print one line for each package and format."""
    groups = defaultdict(list)
    for each in results:
        groups[each.source, each.kind].append(each)
    print(
        f"{'package':34}{'format':7}{'files':>6}{'read':>6}{'refused':>8}{'failed':>7}{'share':>7}{'least':>7}{'s':>6}"
    )
    for (source, kind), own in sorted(groups.items()):
        found = Counter(each.outcome for each in own)
        shares = [each.share for each in own if each.share is not None]
        both = f"{mean(shares):7.3f}{min(shares):7.3f}" if shares else f"{'-':>7}{'-':>7}"
        print(
            f"{source:34}{kind:7}{len(own):6}{found['read']:6}{found['refused']:8}{found['failed']:7}{both}"
            f"{median(each.seconds for each in own):6.1f}"
        )
    shares = [each.share for each in results if each.share is not None]
    if shares:
        print(f"{len(results)} documents; mean share of the other's words {mean(shares):.3f}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--most", type=int, default=1_000, help="documents to read, the smallest first"
    )
    options = parser.parse_args(arguments)
    results: list[Result] = []
    for source, path, body in documents(options.folder):
        found = examine(source, path, body)
        if found is not None:
            results.append(found)
            shown = "" if found.share is None else f" {found.share:.3f}"
            print(
                f"{len(results):4} {found.outcome} {found.seconds:.1f} s{shown} {path.name}",
                file=sys.stderr,
            )
        if len(results) >= options.most:
            break
    report(results)
    return 1 if any(each.outcome == "failed" for each in results) else 0


if __name__ == "__main__":
    sys.exit(main())
