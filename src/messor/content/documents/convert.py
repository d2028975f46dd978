"""Convert: the converter of each format. Importing it loads their libraries, which only readers need."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from messor.content.documents import books, mails, pdf, plain, sheets, slides, word
from messor.web.document_formats import DocumentFormat

Converter = Callable[[bytes, str | None], str]  # bytes and content type to HTML

CONVERTERS: Mapping[DocumentFormat, Converter] = {
    DocumentFormat.PDF: lambda body, _: pdf.to_html(body),
    DocumentFormat.WORD: lambda body, _: word.to_html(body),
    DocumentFormat.SHEET: lambda body, _: sheets.to_html(body),
    DocumentFormat.OLD_SHEET: lambda body, _: sheets.to_html(body),
    DocumentFormat.OPEN_SHEET: lambda body, _: sheets.to_html(body),
    DocumentFormat.CSV: sheets.csv_to_html,
    DocumentFormat.SLIDES: lambda body, _: slides.to_html(body),
    DocumentFormat.RTF: lambda body, _: plain.rtf_to_html(body),
    DocumentFormat.TEXT: plain.to_html,
    DocumentFormat.BOOK: lambda body, _: books.to_html(body),
    DocumentFormat.MAIL: lambda body, _: mails.to_html(body),
}


def to_html(kind: DocumentFormat, body: bytes, content_type: str | None = None) -> str:
    """Convert a document; raises DocumentError with a sentence if it cannot be read."""
    return CONVERTERS[kind](body, content_type)
