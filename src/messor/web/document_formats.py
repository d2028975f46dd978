"""Which documents are read, and how a response is recognised as one.

The bytes decide: servers send documents as `application/octet-stream`, and error pages as PDF.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from enum import StrEnum

_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_SLIDES = "application/vnd.openxmlformats-officedocument.presentationml.presentation"


class DocumentFormat(StrEnum):
    """A format that is read; the value is used in messages and JSON."""

    PDF = "pdf"
    WORD = "docx"
    SHEET = "xlsx"
    OLD_SHEET = "xls"
    OPEN_SHEET = "ods"
    CSV = "csv"
    SLIDES = "pptx"
    RTF = "rtf"
    TEXT = "txt"
    BOOK = "epub"
    MAIL = "eml"


_BY_TYPE: Mapping[str, DocumentFormat] = {
    "application/pdf": DocumentFormat.PDF,
    "application/x-pdf": DocumentFormat.PDF,
    _WORD: DocumentFormat.WORD,
    _SHEET: DocumentFormat.SHEET,
    "application/vnd.ms-excel": DocumentFormat.OLD_SHEET,
    "application/vnd.ms-excel.sheet.binary.macroenabled.12": DocumentFormat.SHEET,
    "application/vnd.oasis.opendocument.spreadsheet": DocumentFormat.OPEN_SHEET,
    "text/csv": DocumentFormat.CSV,
    "text/tab-separated-values": DocumentFormat.CSV,
    _SLIDES: DocumentFormat.SLIDES,
    "application/rtf": DocumentFormat.RTF,
    "text/rtf": DocumentFormat.RTF,
    "text/plain": DocumentFormat.TEXT,
    "text/markdown": DocumentFormat.TEXT,
    "application/epub+zip": DocumentFormat.BOOK,
    "message/rfc822": DocumentFormat.MAIL,
}
# Recognised by their bytes alone; the others need a content type that says so.
_SELF_EVIDENT = frozenset(_BY_TYPE.values()) - {
    DocumentFormat.TEXT, DocumentFormat.CSV, DocumentFormat.MAIL
}  # fmt: skip
_BY_MEMBER: Mapping[str, DocumentFormat] = {
    "word/document.xml": DocumentFormat.WORD,
    "xl/workbook.xml": DocumentFormat.SHEET,
    "xl/workbook.bin": DocumentFormat.SHEET,
    "ppt/presentation.xml": DocumentFormat.SLIDES,
    "META-INF/container.xml": DocumentFormat.BOOK,
}
_OPEN_SHEET = b"application/vnd.oasis.opendocument.spreadsheet"
_PDF_WITHIN = 1024  # the mark of a PDF may follow other bytes


def format_of(content_type: str | None, body: bytes) -> DocumentFormat | None:
    """The format of a response; None if it is no document that is read."""
    media_type = (content_type or "").partition(";")[0].strip().lower()
    stated = _BY_TYPE.get(media_type)
    if (shown := _shown(body)) is not None:
        return shown
    if stated is DocumentFormat.PDF and b"%PDF-" in body[:_PDF_WITHIN]:
        return stated
    return stated if stated is not None and stated not in _SELF_EVIDENT else None


def _shown(body: bytes) -> DocumentFormat | None:
    """The format that the first bytes themselves show."""
    if body.startswith(b"%PDF-"):
        return DocumentFormat.PDF
    if body.startswith(b"{\\rtf"):
        return DocumentFormat.RTF
    if body.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") and b"W\0o\0r\0k\0b\0o\0o\0k" in body:
        return DocumentFormat.OLD_SHEET
    return _zipped(body) if body.startswith(b"PK\x03\x04") else None


def _zipped(body: bytes) -> DocumentFormat | None:
    if _OPEN_SHEET in body[:200]:
        return DocumentFormat.OPEN_SHEET
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        return None
    return next((kind for member, kind in _BY_MEMBER.items() if member in names), None)
