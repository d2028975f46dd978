"""The kinds of HTML elements that affect nesting, after the HTML standard (13.2)."""

from __future__ import annotations

# Without content and end tag.
VOID = frozenset(
    (
        "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img",
        "input", "keygen", "link", "meta", "param", "source", "track", "wbr",
    )
)  # fmt: skip

CELLS = ("td", "th")
SECTIONS = ("tbody", "thead", "tfoot", "caption", "colgroup")
FOREIGN = frozenset(("svg", "math"))

# An end tag does not reach beyond these.
SCOPES = frozenset(
    ("applet", "caption", "html", "marquee", "object", "table", "td", "template", "th")
)

# Reopened after others close over them, until their own end tag.
FORMATTING = frozenset(
    (
        "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong",
        "tt", "u",
    )
)  # fmt: skip

# Formatting within these ends with them.
MARKERS = frozenset(("applet", "caption", "marquee", "object", "td", "template", "th"))

# Their start tags close a paragraph.
BLOCKS = (
    "address", "article", "aside", "blockquote", "center", "details", "dialog", "dir", "div",
    "dl", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5",
    "h6", "header", "hgroup", "listing", "main", "menu", "nav", "ol", "p", "plaintext", "pre",
    "search", "section", "summary", "ul", "xmp",
)  # fmt: skip

# An end tag of any other element does not reach beyond these.
SPECIAL = SCOPES.union(
    BLOCKS, CELLS, SECTIONS, VOID,
    (
        "body", "button", "dd", "dt", "frameset", "head", "iframe", "li", "noembed", "noframes",
        "noscript", "script", "select", "style", "textarea", "title", "tr",
    ),
)  # fmt: skip

# Removed from the standard; the parser still treats them as special, without end tags.
OBSOLETE = frozenset(("command", "isindex"))

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
RUBY = ("rb", "rp", "rt", "rtc")

# Their content is text.
RAW = frozenset(
    ("iframe", "noembed", "noframes", "plaintext", "script", "style", "textarea", "title", "xmp")
)

# Their content within SVG or MathML is HTML again.
INTEGRATION = frozenset(
    (
        "annotation-xml", "desc", "foreignobject", "mi", "mn", "mo", "ms", "mtext", "title",
    )
)  # fmt: skip

# Their start tags end all SVG and MathML around them.
BREAKOUTS = frozenset(
    (
        "b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em",
        "embed", "h1", "h2", "h3", "h4", "h5", "h6", "head", "hr", "i", "img", "li", "listing",
        "menu", "meta", "nobr", "ol", "p", "pre", "ruby", "s", "small", "span", "strike", "strong",
        "sub", "sup", "table", "tt", "u", "ul", "var",
    )
)  # fmt: skip
