"""Markdown of strangers: rendered in bounded time, nothing of it runs, links only where they are safe."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from messor.console import differences, markdown
from tests.console.test_xss import payloads

BASE = "https://shop.example/a/b"


def html(text: str) -> str:
    return "".join(str(markdown.render(text, BASE)).splitlines())


@pytest.mark.parametrize(
    "text, expected",
    [
        ("# T #", "<h3>T</h3>"),
        ("##### T", "<h6>T</h6>"),
        ("- a\n  - b", "<ul><li>a<ul><li>b</li></ul></li></ul>"),
        ("3. c", '<ol start="3"><li>c</li></ol>'),
        ("> q", "<blockquote><p>q</p></blockquote>"),
        ("~~~ x\n<b>\n~~~", "<pre><code>&lt;b&gt;</code></pre>"),
        (
            "| a |\n|--:|\n| b |",
            '<table class="table table-sm"><thead><tr><th>a</th></tr></thead><tbody><tr><td>b</td></tr></tbody></table>',
        ),
        (r"**b** *c* `d` \*e\*", "<p><strong>b</strong> <em>c</em> <code>d</code> *e*</p>"),
        ("<b onclick=x>1</b>", "<p>&lt;b onclick=x&gt;1&lt;/b&gt;</p>"),
        ('[a](javascript:x "t")', "<p><span>a</span></p>"),
        ("![](data:x)", "<p><span>Image</span></p>"),
    ],
)
def test_what_is_rendered(text: str, expected: str) -> None:
    assert html(text) == expected


@pytest.mark.parametrize(
    "text, href, label",
    [
        ('[f](/g "title")', "https://shop.example/g", "f"),
        ("[f][1]\n\n[1]: i", "https://shop.example/a/i", "f"),
        ("![h](i.png)", "https://shop.example/a/i.png", "Image: h"),
        ("[![h](i.png)](/g)", "https://shop.example/g", "Image: h"),
        ("<https://j.example/>", "https://j.example/", "https://j.example/"),
        ('[a](<x"onclick=y>)', "https://shop.example/a/x%22onclick=y", "a"),
    ],
)
def test_links(text: str, href: str, label: str) -> None:
    rel = 'rel="noopener noreferrer nofollow" target="_blank"'
    assert html(text) == f'<p><a href="{href}" {rel}>{label}</a></p>'


class Tags(HTMLParser):
    """The tags and attributes a browser would see."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update((name, value or "") for name, value in attrs)


FORMS = ("{}", "[{}]({})", "![{}]({})", "[x](<{}> '{}')", "<{}>", "`{}`", "```{}\n{}\n```",
         "| {} |\n|---|\n| {} |", "# {}", "- {}", "[x][1]\n\n[1]: {}", "**{}**", "    {}")  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_nothing_but_the_tags_of_markdown_is_rendered(form: str) -> None:
    seen = Tags()
    for payload in payloads():
        seen.feed(str(markdown.render(form.replace("{}", payload), BASE)) + "\n")
    allowed = "p h3 h4 h5 h6 a span em strong code pre ul ol li blockquote hr br table thead tbody tr th td"
    assert seen.tags <= set(allowed.split())
    assert {name for name, _ in seen.attributes} <= {"href", "rel", "target", "class", "start"}
    links = {value for name, value in seen.attributes if name == "href"}
    assert all(link.startswith(("http://", "https://")) for link in links)


@pytest.mark.parametrize(
    "target",
    [
        "javascript:alert`1`", "JaVaScRiPt:x", "data:text/html,x", "vbscript:x", "file:///etc/passwd",
        "java\tscript:x", "\x01javascript:x", "blob:x", "http://[broken", "mailto:a@b.c",
    ],
)  # fmt: skip
def test_links_that_lead_to_no_page(target: str) -> None:
    assert markdown.safe_link(target, BASE) is None or markdown.safe_link(target, BASE).startswith(  # type: ignore[union-attr]
        "https://shop.example/"
    )


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000, "`" * 100_000, "*" * 100_000, "# " + " " * 100_000 + "x", "|" * 100_000,
        " " * 90_000 + "|x", "> " * 50_000, "- " * 50_000, "[a](" * 25_000, "![" * 50_000,
        "**a" * 30_000, "<http://" * 12_000, "| - " * 25_000, "a\n" * 50_000, "\\" * 100_000,
    ],
    ids=range(15),
)  # fmt: skip
def test_hostile_texts_end(text: str) -> None:
    """Each is quadratic for a careless reader: then this test would not end."""
    assert markdown.render(text, BASE).startswith("<")


def test_differences() -> None:
    found = differences.compare("a\nb\nc", "a\nx\nc\nd")
    assert [(one.kind, one.text) for one in found.changes] == [
        ("same", "a"), ("gone", "b"), ("new", "x"), ("same", "c"), ("new", "d"),
    ]  # fmt: skip
    assert (found.new, found.gone, found.is_cut) == (2, 1, False)
    assert differences.compare("same", "same").changes == ()


def test_long_texts_are_compared_in_part() -> None:
    older = "\n".join(f"line {number}" for number in range(5_000))
    found = differences.compare(older, older.replace("line 10\n", "other\n"))
    assert found.is_cut
    assert [one.kind for one in found.changes if one.kind in ("gone", "new")] == ["gone", "new"]
    assert any(one.kind == "gap" for one in found.changes)
