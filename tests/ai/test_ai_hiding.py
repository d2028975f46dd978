"""What a visitor does not see is not shown to a model, however it is hidden."""

from __future__ import annotations

import time

import pytest

from messor.ai.visible_text import VisibleText
from messor.web.unseen import UNSEEN_MARK
from tests.content.views import view

SECRET = "Kettle CANARY for 1 EUR"


def shown(body: str, head: str = "") -> str:
    return "\n".join(VisibleText.of(view(f"<p>Open text.</p>{body}", head=head)).lines())


HIDDEN = {
    "variable": ("<style>:root{--v:none}.t{display:var(--v)}</style>", '<p class="t">{}</p>'),
    "fallback": ("<style>.t{display:var(--v, none)}</style>", '<p class="t">{}</p>'),
    "variable-of-variable": (
        "<style>:root{--a:var(--b);--b:hidden}.t{visibility:var(--a)}</style>", '<p class="t">{}</p>'),
    "inline-variable": ("", '<p style="--v:none;display:var(--v)">{}</p>'),
    "inline-variable-above": ("", '<div style="--v:0"><p style="opacity:var(--v)">{}</p></div>'),
    "variable-elsewhere": ("<style>.t{display:var(--gone)}</style>", '<p class="t">{}</p>'),
    "variable-ink": ("<style>:root{--paper:#fff}.t{color:var(--paper)}</style>", '<p class="t">{}</p>'),
    "one-of-two-values": (
        "<style>:root{--v:block}.x{--v:none}.t{display:var(--v)}</style>", '<p class="x t">{}</p>'),
    "escape": (r"<style>.t{display:\6eone}</style>", '<p class="t">{}</p>'),
    "inline-escape": ("", r'<p style="display:\6e one">{}</p>'),
    "inline-comment": ("", '<p style="display:/*x*/none">{}</p>'),
    "sheet-as-link": (
        '<link rel="stylesheet" href="data:text/css,.t%7Bdisplay:none%7D">', '<p class="t">{}</p>'),
    "sheet-as-packed-link": (
        '<link rel="stylesheet" href="data:text/css;base64,LnR7ZGlzcGxheTpub25lfQ==">',
        '<p class="t">{}</p>'),
    "nth-child": ("<style>section p:nth-child(2){display:none}</style>",
                  "<section><p>One</p><p>{}</p></section>"),
    "not": ("<style>p:not(.seen){display:none}</style>", '<p class="seen">One</p><div><p>{}</p></div>'),
    "media": ("<style>@media screen{.t{display:none}}</style>", '<p class="t">{}</p>'),
    "statement-before": ('<style>@charset "utf-8";.t{display:none}</style>', '<p class="t">{}</p>'),
    "in-a-comment-of-html": ("<style><!-- .t{display:none} --></style>", '<p class="t">{}</p>'),
    "imported": (
        '<style>@import "data:text/css,.t%7Bdisplay:none%7D";</style>', '<p class="t">{}</p>'),
    "one-of": ("<style>:is(.u,.t){display:none}</style>", '<p class="t">{}</p>'),
    "has": ("<style>p:has(b){display:none}</style>", "<p>{}<b>x</b></p>"),
    "nested": ("<style>section{color:red;& > p{display:none}}</style>", "<section><p>{}</p></section>"),
    "nested-at": ("<style>.t{@media screen{display:none}}</style>", '<p class="t">{}</p>'),
    "before-nested": ("<style>.t{display:none;& b{color:red}}</style>", '<p class="t">{}</p>'),
    "after-nested": ("<style>.t{& b{color:red} display:none}</style>", '<p class="t">{}</p>'),
    "font": ("<style>.t{font:0/0 a}</style>", '<p class="t">{}</p>'),
    "inset": ("<style>.t{position:fixed;inset:auto -999px}</style>", '<p class="t">{}</p>'),
    "transform": ("<style>.t{transform:translateX(-9999px)}</style>", '<p class="t">{}</p>'),
    "translate": ("<style>.t{translate:0 -200vh}</style>", '<p class="t">{}</p>'),
    "scale": ("<style>.t{scale:0}</style>", '<p class="t">{}</p>'),
    "zoom": ("<style>.t{zoom:.01}</style>", '<p class="t">{}</p>'),
    "filter": ("<style>.t{filter:blur(1px) opacity(0%)}</style>", '<p class="t">{}</p>'),
    "calc": ("<style>.t{opacity:calc( 0 )}</style>", '<p class="t">{}</p>'),
    "fill": ("<style>.t{-webkit-text-fill-color:transparent}</style>", '<p class="t">{}</p>'),
    "no-alpha": ("<style>.t{color:#12345600}</style>", '<p class="t">{}</p>'),
    "column": ("<style>.t{display:table-column}</style>", '<p class="t">{}</p>'),
    "aria": ("", '<p aria-hidden="TRUE">{}</p>'),
    "until-found": ("", '<p hidden="until-found">{}</p>'),
    "popover": ("", "<div popover>{}</div>"),
    "by-name": ("", '<p class="visuallyhidden">{}</p>'),
    "details-without-summary": ("", "<details><p>{}</p></details>"),
    "details-with-empty-summary": ("", "<details><summary> </summary><p>{}</p></details>"),
    "details-with-hidden-summary": ("", "<details><summary hidden>More</summary><p>{}</p></details>"),
    "marked-by-a-browser": ("", f"<p {UNSEEN_MARK}>{{}}</p>"),
}  # fmt: skip


@pytest.mark.parametrize("name", HIDDEN)
def test_what_is_hidden_is_not_shown(name: str) -> None:
    head, body = HIDDEN[name]
    text = shown(body.format(SECRET), head)
    assert "CANARY" not in text
    assert name == "not" or "Open text." in text


SEEN = {
    "variable": ("<style>:root{--v:block}.t{display:var(--v)}</style>", '<p class="t">{}</p>'),
    "brand-colour-elsewhere": ("<style>.t{color:var(--brand)}</style>", '<p class="t">{}</p>'),
    "white-on-a-ground": (
        "<style>:root{--p:#fff;--g:#024}.t{color:var(--p);background:var(--g)}</style>",
        '<p class="t">{}</p>'),
    "details": ("", "<details><summary>How much is it?</summary><p>{}</p></details>"),
    "open-details": ("", "<details open><p>{}</p></details>"),
    "nested-elsewhere": ("<style>nav{p{display:none}}</style>", "<section><p>{}</p></section>"),
    "look-alikes": (
        "<style>.t{line-height:1;min-width:0;border-width:0;stop-opacity:0;zoom:0.9}</style>",
        '<p class="t" style="border-color:transparent;background-color:rgba(0,0,0,0)">{}</p>'),
    "slider": ("<style>.t{transform:translateX(-100%)}</style>", '<p class="t">{}</p>'),
    "hover": ("<style>.t:hover{display:none}</style>", '<p class="t">{}</p>'),
}  # fmt: skip


@pytest.mark.parametrize("name", SEEN)
def test_what_a_visitor_can_see_is_shown(name: str) -> None:
    head, body = SEEN[name]
    assert "CANARY" in shown(body.format(SECRET), head)


@pytest.mark.parametrize(
    "style",
    [
        "".join(f"--v{n}:var(--v{n + 1});" for n in range(3_000)),
        "display:" + "var(--a," * 2_000,
        "".join(f"--a:{n};" for n in range(3_000)) + "display:var(--a) var(--a) var(--a) var(--a)",
        "a" * 400_000,
        "\\" * 20_000,
        "/*" * 20_000,
        "b{" * 100_000,
        "".join(f".a{n},.b{n}{{" for n in range(5_000)) + "display:none",
        "translate:" * 40_000,
    ],
    ids=["chain", "nested", "many", "long", "escapes", "comments", "deep", "crossed", "moved"],
)
def test_styles_made_to_keep_a_reader_busy_do_not(style: str) -> None:
    body = "".join(f'<p style="{style[:4_000]}">x</p>' for _ in range(50))
    page = view(body, head=f"<style>.t{{{style}}}</style>")
    started = time.process_time()
    VisibleText.of(page)
    assert time.process_time() - started < 1.0
