"""What real writers wrote is read: every word, every cell, headings, lists and links."""

from __future__ import annotations

import csv
import io
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import turbohtml
from playwright.sync_api import sync_playwright

from messor.content.documents.convert import to_html
from messor.fetch.browser import BrowserLimits, why_unavailable
from messor.web.document_formats import DocumentFormat, format_of
from tests.content.documents.writers import (
    LINK,
    NO_OFFICE,
    OFFICE,
    Model,
    by_office,
    by_reportlab,
)

MODELS = [Model.of(seed) for seed in range(10)]
TEXT, CELLS = 0.98, 0.9  # least shares
NO_BROWSER = why_unavailable(BrowserLimits())
needs_office = pytest.mark.skipif(OFFICE is None, reason=NO_OFFICE)


def _words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.lower()))


def _share_of_words(html: str, model: Model) -> float:
    read, written = _words(turbohtml.parse(html).to_text()), Counter(model.words)
    return sum((read & written).values()) / written.total()


def _cells(html: str) -> list[list[str]]:
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", html, re.DOTALL)
    return [
        [
            " ".join(turbohtml.parse(cell).to_text().split())
            for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL)
        ]
        for row in rows
    ]


def _share_of_cells(html: str, model: Model) -> float:
    """Cells that stand in their column and row; a row may be divided by the end of a page."""
    read = _cells(html)
    right = sum(
        max(sum(found == cell for found, cell in zip(row, wanted, strict=False)) for row in read)
        for wanted in model.rows
    )
    return right / sum(map(len, model.rows))


def check(body: bytes, kind: DocumentFormat, model: Model) -> str:
    assert format_of(None, body) is kind
    html = to_html(kind, body)
    assert _share_of_words(html, model) >= TEXT
    assert _share_of_cells(html, model) >= CELLS
    return html


def _headings(html: str) -> list[str]:
    return re.findall(r"<h\d>(.*?)</h\d>", html)


@pytest.mark.parametrize("model", MODELS, ids=range(len(MODELS)))
def test_reportlab(model: Model) -> None:
    html = check(by_reportlab(model), DocumentFormat.PDF, model)
    assert _headings(html) == [model.title, *(heading for heading, _ in model.sections)]
    assert re.findall(r"<li>(.*?)</li>", html) == list(model.items)
    assert f'<a href="{LINK}">how to apply</a>' in html
    assert html.count("<section data-page=") >= 2
    assert '<meta name="author" content="Ada Writer">' in html
    # A paragraph is one element, whatever lines it was broken into.
    assert f"<p>{model.sections[0][1][0]}</p>" in html


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("pages")
    files = []
    for number, model in enumerate(MODELS):
        files.append(folder / f"model{number}.html")
        files[-1].write_text(model.html())
    return files


@pytest.fixture(scope="module")
def office(pages: list[Path]) -> dict[str, list[bytes]]:
    """The same ten documents in each format that LibreOffice writes."""
    folder = pages[0].parent
    texts = by_office(folder, pages, "odt")
    made = {}
    for to in ("docx:MS Word 2007 XML", "rtf:Rich Text Format", "pdf", "epub"):
        files = by_office(folder, texts, to)
        made[to.partition(":")[0]] = [file.read_bytes() for file in files]
    return made


@pytest.mark.wide  # LibreOffice takes a second of CPU to start, for each format
@needs_office
@pytest.mark.parametrize("number", range(len(MODELS)))
def test_office_texts(office: dict[str, list[bytes]], number: int) -> None:
    model = MODELS[number]
    titles = [model.title, *(heading for heading, _ in model.sections)]
    word = check(office["docx"][number], DocumentFormat.WORD, model)
    assert [turbohtml.parse(one).to_text().strip() for one in _headings(word)] == titles
    assert f'href="{LINK}"' in word
    pdf = check(office["pdf"][number], DocumentFormat.PDF, model)
    assert _headings(pdf) == titles
    check(office["rtf"][number], DocumentFormat.RTF, model)
    book = check(office["epub"][number], DocumentFormat.BOOK, model)
    assert f'href="{LINK}"' in book


@pytest.mark.skipif(NO_BROWSER is not None, reason=NO_BROWSER or "")
def test_chromium(pages: list[Path]) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", chromium_sandbox=os.getuid() != 0
        )
        tab = browser.new_page()
        for file, model in zip(pages, MODELS, strict=True):
            tab.goto(file.as_uri())
            html = check(tab.pdf(), DocumentFormat.PDF, model)
            assert _headings(html) == [model.title, *(heading for heading, _ in model.sections)]
            assert f'<a href="{LINK}">' in html
        browser.close()


@pytest.fixture(scope="module")
def sheets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[bytes]]:
    folder = tmp_path_factory.mktemp("sheets")
    files = []
    for number, model in enumerate(MODELS):
        files.append(folder / f"sheet{number}.csv")
        files[-1].write_bytes(_csv(model, ","))
    made = {"csv": [file.read_bytes() for file in files]}
    for to in ("xlsx:Calc MS Excel 2007 XML", "xls:MS Excel 97", "ods:calc8"):
        written = by_office(folder, files, to)
        made[to.partition(":")[0]] = [file.read_bytes() for file in written]
    return made


def _csv(model: Model, delimiter: str) -> bytes:
    target = io.StringIO()
    csv.writer(target, delimiter=delimiter).writerows(model.rows)
    return target.getvalue().encode()


@needs_office
@pytest.mark.parametrize(
    "suffix, kind",
    [
        ("xlsx", DocumentFormat.SHEET),
        ("xls", DocumentFormat.OLD_SHEET),
        ("ods", DocumentFormat.OPEN_SHEET),
    ],
)
def test_office_sheets(sheets: dict[str, list[bytes]], suffix: str, kind: DocumentFormat) -> None:
    for body, model in zip(sheets[suffix], MODELS, strict=True):
        assert format_of(None, body) is kind
        assert _as_numbers(_cells(to_html(kind, body))) == _as_numbers(model.rows)


def _as_numbers(rows: Any) -> list[list[float | str]]:
    """Sheets hold numbers: 3.10 is 3.1 there."""
    return [
        [float(cell) if re.fullmatch(r"[\d.]+", cell) else cell for cell in row] for row in rows
    ]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_separated_values(delimiter: str) -> None:
    for model in MODELS:
        body = b"\xef\xbb\xbf" + _csv(model, delimiter)
        kind = format_of("text/csv; charset=utf-8", body)
        assert kind is DocumentFormat.CSV
        assert _cells(to_html(kind, body, "text/csv")) == [list(row) for row in model.rows]
