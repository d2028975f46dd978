"""Scaffolds a parser for one domain: a package with an entry point, and a test on a stored page.

The generated package passes its test unchanged: the parser starts from the generic result, and the
test expects it until the parser is improved.
"""

from __future__ import annotations

import json
import re
from collections.abc import Set as AbstractSet
from pathlib import Path
from string import Template
from typing import Any

from messor.errors import UsageError
from messor.parsers.builtin import PRODUCTS, STATEMENTS
from messor.parsers.page_reading import read_records

_PROJECT = Template("""\
[project]
name = "messor-parser-$slug"
version = "1"
description = "Messor parser for $domain"
requires-python = ">=3.11"
dependencies = ["messor"]

[project.entry-points."messor.parsers"]
$module = "$module:PARSER"

[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[tool.hatch.build.targets.wheel]
packages = ["$module"]
""")

_PARSER = Template('''\
"""Parser for $domain: corrects the generic result with values from known selectors."""

from __future__ import annotations

from dataclasses import replace

from messor.content.evidence import EvidencedField
from messor.content.records import Record
from messor.content.view import PageView
from messor.parsers.builtin import $base
from messor.web.suffixes import registrable_domain
from messor.web.urls import host_of, parse

KIND = "$kind"  # kind of the record to correct: the first one of a page

# Field, selector, normaliser ("text", "amount", "availability" …); earlier ones take precedence.
PLACES: tuple[tuple[str, str, str], ...] = (
    # ("$field", ".$kind-$field", "$normaliser"),
)


class DomainParser:
    name = "$name"
    version = "1"
    kinds = $base.kinds
    is_generic = False

    def accepts(self, page: PageView) -> bool:
        url = parse(page.url)
        return url is not None and registrable_domain(host_of(url.host)) == "$domain"

    def parse(self, page: PageView) -> list[Record]:
        records = list($base.parse(page))
        places = [at for at, record in enumerate(records) if record.kind == KIND]
        for at in places[:1]:
            fields = {**records[at].fields, **self._known(page)}
            records[at] = replace(records[at], fields=fields)
        return records

    def _known(self, page: PageView) -> dict[str, EvidencedField]:
        found: dict[str, EvidencedField] = {}
        for name, selector, normaliser in PLACES:
            element = page.document.select_one(selector)
            field = page.inside(element).field(normaliser, 0.95) if element is not None else None
            if field is not None:
                found.setdefault(name, field)
        return found


PARSER = DomainParser()
''')

_TEST = Template('''\
"""Tests the parser for $domain on a stored page."""

from __future__ import annotations

import json
from pathlib import Path

from $module import PARSER

from messor.parsers import Parsers
from messor.parsers.page_reading import read_records
from messor.content.records import unsupported
from messor.content.view import PageView

HERE = Path(__file__).parent
URL = $url
HTML = (HERE / "page.html").read_bytes().decode()


def test_it_accepts_only_pages_of_its_domain() -> None:
    assert PARSER.accepts(PageView.of(HTML, URL))
    assert not PARSER.accepts(PageView.of(HTML, "https://example.invalid/"))


def test_it_reads_what_the_page_states() -> None:
    parsers = Parsers()
    parsers.add(PARSER)
    found = read_records(HTML, URL, parsers=parsers)
    assert found.warnings == []
    for record in found.records:
        assert unsupported(record, HTML) == []
    values = [
        {name: field.value for name, field in record.fields.items()}
        for record in found.records
        if record.kind in PARSER.kinds
    ]
    assert values == json.loads((HERE / "expected.json").read_bytes())
''')


def scaffold(folder: Path, domain: str, url: str, html: str) -> list[Path]:
    """Write the package of a new parser to `folder`; returns its files."""
    slug = re.sub(r"[^a-z0-9]+", "-", domain.lower()).strip("-")
    module = f"messor_parser_{slug.replace('-', '_')}"
    base, example = _start(html, url)
    expected = _expected(html, url, (PRODUCTS if base == "PRODUCTS" else STATEMENTS).kinds)
    names = {
        "slug": slug, "module": module, "name": slug, "domain": domain, "url": json.dumps(url),
        "base": base, **example,
    }  # fmt: skip
    files = {
        "pyproject.toml": _PROJECT.substitute(names),
        f"{module}/__init__.py": _PARSER.substitute(names),
        "tests/test_parser.py": _TEST.substitute(names),
        "tests/page.html": html,
        "tests/expected.json": json.dumps(expected, indent=2, ensure_ascii=False) + "\n",
    }
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty: choose another folder with --folder.")
    return [_write(folder / name, text) for name, text in files.items()]


def _start(html: str, url: str) -> tuple[str, dict[str, str]]:
    """Return the built-in parser to start from, and example selectors.

    A page without a product is rarely a shop's: its other records are the start then.
    """
    stated = [record for record in read_records(html, url, generic=True).records if record.fields]
    if any(record.kind in PRODUCTS.kinds for record in stated) or not stated:
        return "PRODUCTS", {"kind": "product", "field": "price", "normaliser": "shown_amount"}
    name, field = next(iter(stated[0].fields.items()))
    example = {"kind": stated[0].kind, "field": name, "normaliser": field.evidence.normaliser}
    return "STATEMENTS", example


def _expected(html: str, url: str, kinds: AbstractSet[str]) -> list[dict[str, Any]]:
    """Return the records read today, as expected by the test."""
    found = read_records(html, url, generic=True)
    return [
        {name: field.value for name, field in record.fields.items()}
        for record in found.records
        if record.kind in kinds
    ]


def _write(path: Path, text: str) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "replace"))
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
    return path
