"""Word files (DOCX) as HTML, by mammoth: styles become headings, lists and tables."""

from __future__ import annotations

import zipfile
from io import BytesIO

import mammoth

from messor.content.documents import markup, office
from messor.content.documents.errors import DocumentError

WHAT = "Word file"
_TITLES = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => h2:fresh
"""


def to_html(body: bytes) -> str:
    """Convert a DOCX file; pictures leave their alternative text."""
    with office.opened(body, WHAT) as archive:
        office.xml(office.member(archive, "word/document.xml", WHAT), WHAT)
        title, author = core_properties(archive, WHAT)
    try:
        written = mammoth.convert_to_html(
            BytesIO(body),
            style_map=_TITLES,
            convert_image=mammoth.images.img_element(lambda _: {"src": ""}),
        )
    except (KeyError, ValueError, AttributeError, TypeError, IndexError, OSError):
        # mammoth has no error of its own for parts that refer to missing ones.
        raise DocumentError(f"The {WHAT} cannot be read: its parts do not fit together.") from None
    return markup.page(title, [written.value], author=author)


def core_properties(archive: zipfile.ZipFile, what: str) -> tuple[str, str]:
    """Title and author that a file of Office states."""
    if "docProps/core.xml" not in archive.namelist():
        return "", ""
    core = office.xml(office.member(archive, "docProps/core.xml", what), what)
    dublin = "{http://purl.org/dc/elements/1.1/}"
    return core.findtext(f"{dublin}title") or "", core.findtext(f"{dublin}creator") or ""
