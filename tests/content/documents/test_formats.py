"""Documents are recognised by their bytes, and what cannot be read says why."""

from __future__ import annotations

import io
import zipfile
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from pptx import Presentation
from pptx.util import Inches
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from messor.content.documents.convert import to_html
from messor.content.documents.errors import DocumentError
from messor.content.documents.markup import SCANNED
from messor.parsers import page_text
from messor.parsers.page_text import text_of
from messor.web.document_formats import DocumentFormat, format_of
from tests.content.documents.writers import LINK, Model, by_reportlab

MODEL = Model.of(1)


def zipped(**members: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("_x", ".x"), content)
    return target.getvalue()


@pytest.mark.parametrize(
    "content_type, body, kind",
    [
        ("application/pdf", b"%PDF-1.7", DocumentFormat.PDF),
        ("application/octet-stream", b"%PDF-1.7", DocumentFormat.PDF),
        ("application/pdf", b"\r\n\r\n%PDF-1.4", DocumentFormat.PDF),
        ("application/pdf", b"<html>Please log in", None),
        ("text/html", b"<p>%PDF-1.7 is how a PDF begins", None),
        (None, b"Just words", None),
        ("text/plain; charset=utf-8", b"Just words", DocumentFormat.TEXT),
        ("TEXT/CSV", b"a,b", DocumentFormat.CSV),
        ("message/rfc822", b"From: a@b.example", DocumentFormat.MAIL),
        ("application/zip", zipped(readme=b"x"), None),
        ("application/zip", zipped(word__document_xml=b"<a/>"), DocumentFormat.WORD),
        ("application/msword", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, None),
        ("application/vnd.ms-excel", b"not a workbook", None),
        ("application/epub+zip", b"PK\x03\x04 damaged", None),
        ("image/png", b"\x89PNG", None),
    ],
    ids=range(15),
)
def test_the_bytes_decide(
    content_type: str | None, body: bytes, kind: DocumentFormat | None
) -> None:
    assert format_of(content_type, body) is kind


def _scan() -> bytes:
    from PIL import Image  # noqa: PLC0415 - comes with reportlab

    target, picture = io.BytesIO(), io.BytesIO()
    Image.new("L", (200, 200), 128).save(picture, "PNG")
    canvas = Canvas(target)
    from reportlab.lib.utils import ImageReader  # noqa: PLC0415

    canvas.drawImage(ImageReader(picture), 50, 50, 400, 600)
    canvas.save()
    return target.getvalue()


def test_a_scan_says_so() -> None:
    assert SCANNED in to_html(DocumentFormat.PDF, _scan())
    assert SCANNED not in to_html(DocumentFormat.PDF, by_reportlab(MODEL))


LOCKED = by_reportlab(MODEL, encrypt=StandardEncryption("secret", ownerPassword="owner"))


@pytest.mark.parametrize(
    "kind, body, message",
    [
        ("pdf", LOCKED, "The PDF is encrypted with a password."),
        ("pdf", b"%PDF-1.7 and then nothing", "The PDF cannot be opened: it is damaged."),
        ("docx", zipped(word__document_xml=b"<a"), "its XML is damaged"),
        ("docx", zipped(word__document_xml=b"<!DOCTYPE a [<!ENTITY b 'c'>]><a/>"), "XML entities"),
        ("docx", zipped(word__document_xml=b"<a/>"), "its parts do not fit together"),
        ("xlsx", zipped(xl__workbook_xml=b"<a/>"), "The spreadsheet cannot be opened"),
        ("pptx", zipped(other=b""), "The presentation has no part 'ppt/presentation.xml'."),
        ("epub", zipped(other=b""), "The e-book has no part 'META-INF/container.xml'."),
        ("eml", b"", "The mail file has no headers."),
    ],
    ids=range(9),
)
def test_what_cannot_be_read_says_why(kind: str, body: bytes, message: str) -> None:
    with pytest.raises(DocumentError) as caught:
        to_html(DocumentFormat(kind), body)
    assert message in str(caught.value)


def test_a_bomb_is_refused() -> None:
    with pytest.raises(DocumentError, match="more than is read"):
        to_html(DocumentFormat("docx"), zipped(word__document_xml=b"<a>" + b"\0" * 300_000_000))


def test_slides(tmp_path: Path) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = MODEL.title
    slide.placeholders[1].text = "\n".join(MODEL.items)
    run = slide.placeholders[1].text_frame.add_paragraph().add_run()
    run.text, run.hyperlink.address = "how to apply", LINK
    slide.notes_slide.notes_text_frame.text = "Say it slowly"
    second = deck.slides.add_slide(deck.slide_layouts[5])
    shape = second.shapes.add_table(2, 2, Inches(1), Inches(1), Inches(4), Inches(1))
    for number, said in enumerate(("Round", "Deadline", "Spring", "31 March")):
        shape.table.cell(number // 2, number % 2).text = said
    deck.core_properties.author = "Ada"
    deck.save(str(tmp_path / "deck.pptx"))
    body = (tmp_path / "deck.pptx").read_bytes()
    assert format_of(None, body) is DocumentFormat.SLIDES
    html = to_html(DocumentFormat.SLIDES, body)
    assert f"<h2>{MODEL.title}</h2>" in html
    assert all(f"<p>{item}</p>" in html for item in MODEL.items)
    assert f'<a href="{LINK}">how to apply</a>' in html
    assert "<aside><p>Say it slowly</p></aside>" in html
    assert "<tr><td>Spring</td><td>31 March</td></tr>" in html
    assert html.index('data-page="1"') < html.index('data-page="2"')
    assert 'content="Ada"' in html


def test_mail() -> None:
    message = EmailMessage()
    message["From"], message["Subject"] = "Ada <ada@fund.example>", "Call for <b>proposals</b>"
    message.set_content("Apply by 31 March.\n\nThe fund")
    message.add_alternative("<p>Apply by 31 March.</p>", subtype="html")
    message.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="call.pdf")
    html = to_html(DocumentFormat.MAIL, message.as_bytes())
    assert "<h1>Call for &lt;b&gt;proposals&lt;/b&gt;</h1>" in html
    assert "<p>Apply by 31 March.</p>\n<p>The fund</p>" in html
    assert "<li>call.pdf</li>" in html


@pytest.mark.parametrize("href", ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x"])
def test_links_lead_to_the_web_alone(href: str) -> None:
    target = io.BytesIO()
    canvas = Canvas(target)
    canvas.drawString(100, 700, "Click here")
    canvas.linkURL(href, (90, 690, 200, 720))
    canvas.save()
    html = to_html(DocumentFormat.PDF, target.getvalue())
    assert "Click here" in html
    assert "<a" not in html


def test_outside_a_sandbox_documents_are_converted_in_a_child(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def never(*_: Any) -> str:
        raise AssertionError("converted in this process")

    monkeypatch.setattr("messor.content.documents.convert.to_html", never)
    assert MODEL.title in text_of(by_reportlab(MODEL), "application/pdf")
    with pytest.raises(DocumentError, match="encrypted"):
        text_of(LOCKED, "application/pdf")
    monkeypatch.setattr(page_text, "_CHILD", "messor.no_such_module")
    with pytest.raises(DocumentError, match="or crashed"):
        text_of(by_reportlab(MODEL), "application/pdf")
