from __future__ import annotations

import gzip

import pytest

from messor.web.depth import MAX_DEPTH, is_too_deep
from messor.web.html import TooComplexError, parse_document, read_page
from tests.web.conftest import CORPORA

URL = "https://a.example/"

DEEP = {
    "cells that are not opened": (
        "<div><a><picture>" + "<div>" * 506 + "</div></div><table><td></tr> <div></a>"
    ),
    "unclosed": "<div>" * 600,
    "closed in the end": "<div>" * 600 + "</div>" * 600,
    "end tags of others": "<div></i>" * 600,
    "upper case": "<DIV></I>" * 600,
    "end tags out of reach": "<div>" * 300 + "<table><td>" + "</div>" * 300 + "<div>" * 300,
    "tables with what they imply": "<table><td>" * 170,
    "unknown elements": "".join(f"<x{n}>" for n in range(600)),
    "foreign cells": "<svg>" + "<td>" * 600,
    "formatting": "<p>" + "".join(f"<font color={n}>" for n in range(600)) + "</p><p>x",
    "formatting that lives on": "".join(f"<p><font color={n}>" for n in range(600)) + "x",
    "cells without a table": "<td><b>" * 600,
    "scopes far away": "<section><table><td>" + "<div>" * 400 + "</section>" * 100_000,
}

FLAT = {
    "items without end tags": "<ul>" + "<li>x<p>y" * 2_000 + "</ul>",
    "rows without end tags": "<table>" + "<tr><td>a<td>b" * 2_000 + "</table>",
    "paragraphs": "<p>x" * 2_000,
    "definitions": "<dl>" + "<dt>a<dd>b" * 2_000,
    "options": "<select>" + "<option>x" * 2_000 + "</select>",
    "void elements": "<br><img src=x><input>" * 2_000,
    "anchors without end tags": "".join(f"<p><a name={n}>x" for n in range(2_000)),
    "siblings": "<div><b>x</b></div>" * 2_000,
    "elements closed by their parents": "<div><span><q></div>" * 2_000,
}


# Small pages and large ones are looked at in different ways.
SIZES = pytest.mark.parametrize("filling", ["", "x < y </ z " * 10_000], ids=["small", "large"])


@SIZES
@pytest.mark.parametrize("name", DEEP)
def test_deep_pages_are_refused_before_they_are_parsed(name: str, filling: str) -> None:
    with pytest.raises(TooComplexError, match=f"more than {MAX_DEPTH} elements"):
        read_page(filling + DEEP[name], URL)
    with pytest.raises(TooComplexError):
        parse_document(filling + DEEP[name])


@SIZES
@pytest.mark.parametrize("name", FLAT)
def test_end_tags_may_be_left_out(name: str, filling: str) -> None:
    assert not is_too_deep(filling + FLAT[name])


@pytest.mark.parametrize("folder", ["article_html", "product_html"])
def test_real_pages_are_not_too_deep(folder: str) -> None:
    paths = sorted((CORPORA / folder).glob("*.html.gz"))
    if not paths:
        pytest.skip(f"the external cases ({folder}) are not here")
    for path in paths:
        assert not is_too_deep(gzip.decompress(path.read_bytes()).decode("utf-8", "replace"))
