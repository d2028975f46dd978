"""Slides (PPTX) as HTML: a section for each, with its title, text, tables, links and notes."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from messor.content.documents import markup, office
from messor.content.documents.word import core_properties

WHAT = "presentation"
MAX_SLIDES = 1_000
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"


def to_html(body: bytes) -> str:
    """Convert a PPTX file, in the order of its slides."""
    with office.opened(body, WHAT) as archive:
        title, author = core_properties(archive, WHAT)
        sections = [
            _slide(archive, name, number) for number, name in enumerate(_order(archive), start=1)
        ]
    return markup.page(title, sections, author=author)


def _order(archive: zipfile.ZipFile) -> Iterator[str]:
    main = "ppt/presentation.xml"
    targets = _relations(archive, main)
    root = office.xml(office.member(archive, main, WHAT), WHAT)
    for number, entry in enumerate(root.iter(f"{_P}sldId")):
        target = targets.get(entry.get(f"{_R}id", ""))
        if target and number < MAX_SLIDES:
            yield target


def _relations(archive: zipfile.ZipFile, name: str) -> dict[str, str]:
    """Targets by relation id; those inside the file are names of members."""
    folder, file = posixpath.split(name)
    listed = f"{folder}/_rels/{file}.rels"
    if listed not in archive.namelist():
        return {}
    found = {}
    for relation in office.xml(office.member(archive, listed, WHAT), WHAT).iter(_RELATION):
        target = relation.get("Target", "")
        if relation.get("TargetMode") != "External":
            target = posixpath.normpath(posixpath.join(folder, target)).lstrip("/")
        found[relation.get("Id", "")] = target
    return found


def _slide(archive: zipfile.ZipFile, name: str, number: int) -> str:
    targets = _relations(archive, name)
    root = office.xml(office.member(archive, name, WHAT), WHAT)
    parts: list[str] = []
    for shape in root.iter():
        if shape.tag == f"{_P}sp":
            parts += _shape(shape, targets)
        elif shape.tag == f"{_A}tbl":
            rows = [[_said(cell) for cell in row.iter(f"{_A}tc")] for row in shape.iter(f"{_A}tr")]
            parts.append(markup.table(rows))
    notes = next((target for target in targets.values() if "/notesSlides/" in target), None)
    if notes and notes in archive.namelist():
        parts += _notes(archive, notes)
    inner = "\n".join(part for part in parts if part)
    return markup.element("section", f"\n{inner}\n", data_page=number)


def _shape(shape: ET.Element, targets: dict[str, str]) -> Iterator[str]:
    kind = shape.find(f".//{_P}nvPr/{_P}ph")
    is_title = kind is not None and kind.get("type") in ("title", "ctrTitle")
    for paragraph in shape.iter(f"{_A}p"):
        inner = "".join(_run(run, targets) for run in paragraph)
        if inner.strip():
            yield markup.element("h2" if is_title else "p", inner.strip())


def _run(run: ET.Element, targets: dict[str, str]) -> str:
    if run.tag == f"{_A}br":
        return "<br>"
    said = markup.text("".join(part.text or "" for part in run.iter(f"{_A}t")))
    click = run.find(f"{_A}rPr/{_A}hlinkClick")
    href = targets.get(click.get(f"{_R}id", ""), "") if click is not None else ""
    return markup.link(said, href) if href else said


def _notes(archive: zipfile.ZipFile, name: str) -> Iterator[str]:
    root = office.xml(office.member(archive, name, WHAT), WHAT)
    for shape in root.iter(f"{_P}sp"):
        kind = shape.find(f".//{_P}nvPr/{_P}ph")
        if kind is not None and kind.get("type") == "body":
            yield markup.element("aside", "\n".join(_shape(shape, {})))


def _said(node: ET.Element) -> str:
    paragraphs = (
        "".join(part.text or "" for part in paragraph.iter(f"{_A}t"))
        for paragraph in node.iter(f"{_A}p")
    )
    return "\n".join(paragraphs).strip()
