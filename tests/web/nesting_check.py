"""Random markup, counted and parsed: whether the parser ever opens more than was counted.

`python -m tests.web.nesting_check SEED SECONDS` goes on until its time is up, and prints the pages
that nest more deeply than was counted. A page that ends it is a finding as well.
"""

from __future__ import annotations

import sys
import time
from random import Random

import turbohtml
from turbohtml import Element, Node

from messor.web.depth import is_too_deep
from messor.web.open_elements import OpenElements

# A page of 6 KB that ended workers: its depth was hidden from who cuts names at a dash.
KILLER = "<div><a><picture>" + "<x-1></x-2>" * 504 + "<table><td></tr> <div></a>" + " word" * 400

# Without forms: the parser takes those off its stack from beneath others, so that a page becomes
# deeper than the stack ever was. The stack is what must not overflow.
_SLACK = 8  # the page's own elements, and those that come and go with one tag
_NAMES = [
    "a",
    "address",
    "annotation-xml",
    "applet",
    "b",
    "blockquote",
    "body",
    "br",
    "button",
    "caption",
    "code",
    "col",
    "colgroup",
    "datalist",
    "dd",
    "desc",
    "details",
    "div",
    "dl",
    "dt",
    "em",
    "fieldset",
    "font",
    "foreignObject",
    "frame",
    "frameset",
    "g",
    "h1",
    "h2",
    "head",
    "hr",
    "html",
    "i",
    "iframe",
    "image",
    "img",
    "input",
    "label",
    "li",
    "link",
    "main",
    "marquee",
    "math",
    "mi",
    "mtext",
    "nav",
    "nobr",
    "noscript",
    "object",
    "ol",
    "optgroup",
    "option",
    "p",
    "path",
    "plaintext",
    "pre",
    "rp",
    "rt",
    "ruby",
    "script",
    "section",
    "select",
    "span",
    "style",
    "summary",
    "svg",
    "table",
    "tbody",
    "td",
    "template",
    "textarea",
    "th",
    "title",
    "tr",
    "ul",
    "x-1",
    "x-2",
    "xmp",
]
_COMMON = [
    "a",
    "b",
    "div",
    "font",
    "foreignObject",
    "g",
    "li",
    "p",
    "select",
    "span",
    "svg",
    "table",
    "td",
    "template",
    "title",
    "tr",
]
_VALUES = ("</div>", ">", "<b>", "'", "1", "</b>", "</table>")
_OTHERS = (
    "x", " ", "<!--</div>-->", "<![CDATA[</svg>]]>", "<!-- <p> -->", "</ z>", "<?x </p>>", "<",
    "<div a=</div>", "<div </div>",
)  # fmt: skip


def random_tag(random: Random) -> str:
    name = random.choice(_COMMON if random.random() < 0.5 else _NAMES)
    kind = random.random()
    if kind >= 0.9:
        return random.choice(_OTHERS)
    if kind >= 0.55:
        return f"</{name}>"
    attribute = f' x="{random.choice(_VALUES)}"' if random.random() < 0.2 else ""
    if name in ("a", "b", "font", "i") and random.random() < 0.6:
        attribute = random.choice((" c=@", " color=@"))  # the same twice is not opened again
    return f"<{name}{attribute}{'/' if random.random() < 0.12 else ''}>"


def random_page(random: Random) -> str:
    """A few tags, then others again and again: what is hidden once is hidden often."""
    first = "".join(random_tag(random) for _ in range(random.choice((0, 0, 1, 2, 5))))
    unit = "".join(random_tag(random) for _ in range(random.randint(1, random.choice((3, 6, 12)))))
    return first + "".join(
        unit.replace("@", str(n)) for n in range(random.choice((25, 25, 45, 45, 700)))
    )


def depth_of(page: str) -> int:
    """How many elements the innermost lies within, itself included."""
    deepest = 0
    nodes: list[tuple[Node, int]] = [(turbohtml.parse(page, positions=False), 0)]
    while nodes:
        node, depth = nodes.pop()
        depth += isinstance(node, Element)
        deepest = max(deepest, depth)
        nodes += [(child, depth) for child in node.children]
    return deepest


def main() -> None:
    random, ends_at = Random(int(sys.argv[1])), time.monotonic() + float(sys.argv[2])
    found = pages = 0
    while time.monotonic() < ends_at:
        page = random_page(random)
        pages += 1
        if is_too_deep(page):
            continue  # it may end this process
        depth = depth_of(page)
        if depth > _SLACK and not OpenElements(depth - _SLACK).is_exceeded_by(page):
            found += 1
            sys.stdout.write(f"{depth} {page}\n")
    sys.stdout.write(f"{pages} pages, {found} of them deeper than counted\n")
    sys.exit(found > 0)


if __name__ == "__main__":
    main()
