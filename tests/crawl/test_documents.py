"""Documents on sites: fetched, archived as they are, read in the sandbox, turned into records."""

from __future__ import annotations

import io
import json
import zipfile
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption

from messor.archive.segments import read_record
from messor.archive.snapshot_content import read_body
from messor.crawl.sandboxed_reader import SandboxedReader
from messor.extraction import queue
from messor.extraction.extract import Extractor
from messor.extraction.reader_pool import ReaderPool
from messor.ops import record_audit
from messor.store.database import Database
from messor.web.document_formats import DocumentFormat
from messor.web.html import TooComplexError
from simweb.answers import SimResponse
from tests.content.documents.test_formats import zipped
from tests.content.documents.writers import Model, by_reportlab
from tests.crawling import admit, crawl
from tests.little_web import LittleWeb, page

CALL = Model(
    "Community grant 2027",
    (("The call", ("Deadline: 31 March 2027", "Amount: up to 5,000 EUR", "Funder: River Trust")),),
    ("Registered charities", "Schools"),
    (("Round", "Amount"), ("Spring", "5,000 EUR")),
)
STATE = """
SELECT p.url, t.outcome, t.error_message, s.content_type, x.markdown, s.id AS snapshot_id
  FROM messor.pages p JOIN messor.crawl_tasks t ON t.page_id = p.id AND t.kind = 'page'
  LEFT JOIN messor.page_snapshots s ON s.id = t.snapshot_id
  LEFT JOIN messor.snapshot_texts x ON x.snapshot_id = s.id
"""
PLACES = """
SELECT g.name, s.segment_offset, s.segment_length FROM messor.page_snapshots s
  JOIN messor.segments g ON g.id = s.segment_id WHERE s.id = $1
"""


def document(body: bytes, content_type: str = "application/pdf") -> SimResponse:
    return SimResponse(200, (("Content-Type", content_type),), body)


async def test_documents_are_crawled_like_pages(database: Database, tmp_path: Path) -> None:
    call = by_reportlab(CALL).replace(b"https://fund.example/apply", b"http://one.test/apply.html")
    rooms = {
        "/": page("Home", "/call.pdf", "/locked.pdf", "/broken.docx", "/notes.txt", "/file.bin"),
        "/call.pdf": document(call),
        "/locked.pdf": document(by_reportlab(CALL, encrypt=StandardEncryption("secret"))),
        "/broken.docx": document(zipped(word__document_xml=b"<a"), "application/zip"),
        "/notes.txt": document("Opening hours: Größe 5".encode(), "text/plain; charset=utf-8"),
        "/file.bin": document(b"\0\1\2", "application/octet-stream"),
    }
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, "http://one.test/")
        settings = web.settings()
        await crawl(settings, database)
        found = {
            row["url"].removeprefix("http://one.test"): row for row in await database.fetch(STATE)
        }
        archive = settings.data_dir / "archive"
        await queue.catch_up(database)
        async with AsyncExitStack() as ending:
            readers = ReaderPool(1)
            ending.push_async_callback(readers.close)
            await Extractor(database, archive, readers).run()
    pdf = found["/call.pdf"]
    assert pdf["outcome"] == "ok"
    assert pdf["content_type"] == "application/pdf"
    assert "# Community grant 2027" in pdf["markdown"]
    assert "| Spring | 5,000 EUR |" in pdf["markdown"]
    assert "/apply.html" in found, "links of documents are followed"
    place = await database.fetchrow(PLACES, pdf["snapshot_id"])
    assert place is not None
    assert read_body(archive, *place, read=read_record) == call, "the archive keeps its bytes"
    assert found["/notes.txt"]["markdown"] == "Opening hours: Größe 5"
    assert (found["/locked.pdf"]["outcome"], found["/locked.pdf"]["error_message"]) == (
        "error",
        "The PDF is encrypted with a password.",
    )
    assert found["/broken.docx"]["outcome"] == "error"
    assert found["/file.bin"]["outcome"] == "not_html"
    program = await database.fetchval(
        "SELECT data FROM messor.records WHERE kind = 'funding_program' AND snapshot_id = $1",
        pdf["snapshot_id"],
    )
    assert json.loads(program) == {
        "name": "Community grant 2027", "deadline": "2027-03-31", "amount": 5000,
        "currency": "EUR", "funder": "River Trust",
    }  # fmt: skip
    report = await record_audit.audit(database, archive, sample=1_000)
    assert report.records
    assert [(v.check.id, v.examples) for v in report.verdicts if v.broken] == []


async def test_a_document_that_takes_too_long_harms_nothing() -> None:
    """Fifty thousand paragraphs in a small file; the next document is read as usual."""
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    paragraphs = b"<w:p><w:r><w:t>again</w:t></w:r></w:p>" * 50_000
    long = b'<w:document xmlns:w="%b"><w:body>%b</w:body></w:document>' % (
        word.encode(),
        paragraphs,
    )
    reader = SandboxedReader(agent="MessorBot", document_seconds=1)
    try:
        with pytest.raises(TooComplexError, match="1 s"):
            await reader.read_document(
                docx(long), DocumentFormat.WORD, None, "http://one.test/long.docx"
            )
        html, reading = await reader.read_document(
            by_reportlab(CALL), DocumentFormat.PDF, None, "http://one.test/call.pdf"
        )
    finally:
        await reader.close()
    assert reading.title == CALL.title
    assert CALL.sections[0][1][0] in html


def docx(document: bytes) -> bytes:
    """The least file that Word readers take."""
    package = "http://schemas.openxmlformats.org/package/2006"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    relations = f"""<Relationships xmlns="{package}/relationships"><Relationship Id="r1"
        Type="{office}" Target="word/document.xml"/></Relationships>"""
    types = f"""<Types xmlns="{package}/content-types"><Default Extension="rels"
        ContentType="application/vnd.openxmlformats-package.relationships+xml"/></Types>"""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", types)
        archive.writestr("_rels/.rels", relations)
        archive.writestr("word/document.xml", document)
    return target.getvalue()
