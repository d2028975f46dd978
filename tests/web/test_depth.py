"""The nesting guard: never below what the parser opens, seldom above what a real page holds."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from messor.web.depth import MAX_DEPTH, is_too_deep, may_exceed
from messor.web.encodings import decode
from messor.web.html import TooComplexError, parse_document, read_page
from tests.web.conftest import CORPORA, real_pages
from tests.web.nesting_check import KILLER, SLACK, height_of

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
    "scopes far away": "<section><table><td>" + "<div>" * 481 + "</section>" * 100_000,
    "names with dashes": KILLER,
    **{
        f"names with {name}": f"<x{sign}1></x{sign}2>" * 600
        for name, sign in {
            "colons": ":",
            "underscores": "_",
            "dots": ".",
            "nul": "\0",
            "letters": "é",
            "quotes": '"',
        }.items()
    },
    "2,000 deep": "<div>" * 2_000 + "x" + "</div>" * 2_000,
    "a million unclosed": "<div>" * 1_000_000,
    "unclosed within a script of SVG": "<svg><script>" + "<g>" * 600 + "</script>",
    "unclosed within a title of SVG": "<svg><title>" + "<div>" * 600 + "</title></svg>",
    "unclosed in a noscript": "<noscript>" + "<div>" * 600 + "</noscript>",
    "self-closing HTML": "<div/>" * 600,
    "items behind what was an element once": "<li><isindex>" * 252 + "<table><td></tr> <div></a>",
    "items behind what never was one": "<li><command>" * 300,
    "paragraphs that ended before": "<xmp></xmp><audio><p>" * 600,
    "options that ended before": "<option><optgroup></option>" * 600,
    "headings of another rank": "<h1><header><h2></h1>" * 300,
    "links around a list of options": "".join(
        f"<a><dl><select><code><a c={n}><b c={n}></select>" for n in range(130)
    ),
    "self-closing after SVG was left": "<svg><p>" + "<x/>" * 600,
}

# Nothing closes anything here, though it seems so to who does not read as the parser does.
HIDDEN = {
    "end tags in attributes": '<div title="</div>">' * 600,
    "end tags in attributes, behind a bracket": "<div title='> </div>'>" * 600,
    "end tags as attributes": "<div </div>" * 600,
    "end tags as values": "<div a=</div>" * 600,
    "end tags in comments": "<div><!--</div>-->" * 600,
    "end tags in bogus comments": "<div><?</div>" * 600,
    "void elements in SVG": "<svg>" + "<input>" * 600,
    "forms the parser has forgotten": "<form><table></form></table></form>" * 600,
    "formatting opened again in SVG": (
        "<p><b></p>" + "<svg><foreignObject>x</foreignObject></svg>" * 300
    ),
    "end tags in CDATA": "<svg>" + "<g><![CDATA[></g>]]>" * 600,
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
    "icons": "<a><svg><title>x</title><path d='a'/><g><circle/></g><use href=x /></svg></a>"
    * 2_000,
    "one icon of many paths": "<svg>" + "<path d='a'/><g/>" * 2_000 + "</svg>",
    "icons left open": "<div><svg><path><path></svg></div>" * 2_000,
    "formulas": "<math><mi>x</mi><mo>=</mo><mn>1</mn></math>" * 2_000,
    "tags in scripts": "<script>x = '<div>'; y = 1 <b && '<p>'</script>" * 2_000,
    "tags in styles": "<style>a::after { content: '<div>' }</style>" * 2_000,
    "tags in text fields": "<textarea><div><p></textarea>" * 2_000,
    "tags in comments": "<!-- <div> <p> -->" * 2_000,
    "tags in attributes": """<i title='<div>' data-x="<p>"></i>""" * 2_000,
    "CDATA in SVG": "<svg><style><![CDATA[ a {} ]]></style></svg>" * 2_000,
    "pictures in noscript": "<div><noscript><img src=x></noscript></div>" * 2_000,
    "unknown elements left open": '<li><a><div><loading="lazy"></div></a></li>' * 2_000,
    "closed custom elements": "<x-card><x-title>x</x-title></x-card>" * 2_000,
}


# Pages of known sites and of others are looked at in different ways.
KNOWN = pytest.mark.parametrize("known", [True, False], ids=["known", "new"])


# What looks like an element that its own end tag closes at once, and stays open.
STAYING = {
    "elements around others": "<span>x<div></span>",
    "elements around formatting": "<b>x<div></b>",
    "end tags in attributes": '<div title="x"y="</div>">',
    "end tags behind an open attribute": '<div title="x>y</div>">',
    "end tags that are none": "<div>x<div></ div>",
}


@pytest.mark.parametrize("name", STAYING)
def test_what_seems_to_be_closed_at_once_counts(name: str) -> None:
    page = " " * 2_000 + STAYING[name] * 40
    height = height_of(page)
    assert height >= 40
    assert may_exceed(page, height - SLACK)


@KNOWN
def test_an_element_that_is_closed_at_once_is_open_for_a_while(*, known: bool) -> None:
    short = "<b>x</b>" * 60
    assert is_too_deep("<div>" * MAX_DEPTH + short, known=known)
    assert not is_too_deep("<div>" * (MAX_DEPTH - 1) + short, known=known)


@KNOWN
@pytest.mark.parametrize("name", DEEP)
def test_deep_pages_are_refused_before_they_are_parsed(name: str, *, known: bool) -> None:
    with pytest.raises(TooComplexError, match=f"more than {MAX_DEPTH} elements"):
        read_page(DEEP[name], URL, is_site_known=known)
    with pytest.raises(TooComplexError):
        parse_document("x < y </ z>" * 10_000 + DEEP[name], is_site_known=known)


@pytest.mark.parametrize("name", HIDDEN)
def test_depth_cannot_be_hidden_by_a_site_that_is_new(name: str) -> None:
    assert is_too_deep(HIDDEN[name])


@KNOWN
@pytest.mark.parametrize("name", FLAT)
def test_end_tags_may_be_left_out(name: str, *, known: bool) -> None:
    assert not is_too_deep(FLAT[name], known=known)
    assert not is_too_deep("x < y </ z>" * 10_000 + FLAT[name], known=known)


@KNOWN
def test_a_page_is_judged_in_time(*, known: bool) -> None:
    """Whatever its tags make one look for, also where each closes the one before."""
    pages = (
        "<div>" * 470 + "</p></x></li></b>" * 250_000,
        "<p><b><table>" * 100 + "</i>" * 1_000_000,
        *(tag * 1_000_000 for tag in ("<p>", "<li>", "<td>", "<option>", "<br>", "</p>")),
    )
    for page in pages:
        started = time.thread_time()
        is_too_deep(page, known=known)
        assert time.thread_time() - started < 1.5


def test_no_page_is_deeper_than_was_counted() -> None:
    """Random markup, repeated; whoever counts too little may end the process: one of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.web.nesting_check", "7", "10"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stdout + done.stderr


REAL_PAGES = 1_398  # external documents that have been found to be read at full speed


def test_real_pages_are_read() -> None:
    """Every page of the corpora, whether its site is known or not."""
    unsure: list[str] = []
    read = 0
    for path, body in real_pages():
        read += 1
        text, _ = decode(body, "text/html")
        assert not is_too_deep(text, known=True), path
        if is_too_deep(text):
            unsure.append(path)
    if not CORPORA.is_dir():
        pytest.skip("the external cases are not here")
    assert read >= REAL_PAGES
    assert unsure == []
