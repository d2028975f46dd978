"""Which elements of a page a visitor does not see, as spans of its source.

Told by attributes, by inline style and by simple rules of the page's own style sheets; a rule in
a file elsewhere is not known. In doubt an element counts as hidden: what is lost is text that a
model might have read, never a fact.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from turbohtml import Document, Element

from messor.extract.spans import Source

MAX_RULES = 5_000
MAX_SELECTORS = 200
MAX_STYLES = 500_000  # characters of style sheets that are read

# Their text is none of the page's, or not shown as it stands.
_UNSEEN_TAGS = (
    "script, style, template, noscript, textarea, select, datalist, iframe, object, svg, math, "
    "canvas, audio, video, noframes, noembed, xmp, plaintext, head meta, head link"
)
_TOLD = (
    '[hidden], [aria-hidden="true"], [style], input[type="hidden"], dialog:not([open]), font[color], '
    ".sr-only, .visually-hidden, .screen-reader-text, .d-none, .hidden, .hide, .invisible"
)
# What common style sheets call it; their files are not at hand.
_HIDING_CLASSES = frozenset(
    (
        ".sr-only",
        ".visually-hidden",
        ".screen-reader-text",
        ".d-none",
        ".hidden",
        ".hide",
        ".invisible",
    )
)
_HIDES = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|content-visibility\s*:\s*hidden"
    r"|opacity\s*:\s*0?\.?0{1,4}\d?(?![.\d])|font-size\s*:\s*[01](?:\.\d{0,4})?(?:px|pt|em|rem|%)?\s*(?:;|!|$)"
    r"|text-indent\s*:\s*-\d{3,}|(?:left|top|right|bottom)\s*:\s*-\d{3,}"
    r"|clip(?:-path)?\s*:\s*(?:rect\(\s*[01]|inset\(\s*(?:50|100)|circle\(\s*0)"
    r"|(?:max-)?(?:height|width)\s*:\s*[01](?:px)?\s*(?:;|!|$)|transform\s*:\s*scale[xy]?\(\s*0"
    r"|color\s*:\s*transparent|color\s*:\s*(?:rgba|hsla)\([^)]{0,40},\s*0?\.?0\s*\)"
    r"|color\s*:\s*#[0-9a-f]{6}0[0-9a-f](?![0-9a-f])|z-index\s*:\s*-\d{2,}"
)
_COLOUR = r"(#[0-9a-f]{3,8}|[a-z]{3,20}|rgb\([^)]{0,40}\)|hsl\([^)]{0,40}\))"
_INK = re.compile(rf"(?<![-\w])color\s*:\s*{_COLOUR}")
_GROUND = re.compile(r"(?<![-\w])background(?:-color|-image)?\s*:\s*([^;}]{1,200})")
_PAPER = frozenset(
    ("#fff", "#ffff", "#ffffff", "#ffffffff", "white", "snow", "ivory", "#fefefe", "#fdfdfd",
     "#fcfcfc", "#fafafa", "ghostwhite", "whitesmoke", "rgb(255,255,255)", "hsl(0,0%,100%)")
)  # fmt: skip
_RULE = re.compile(r"([^{}]{1,2000})\{([^{}]{0,5000})\}")
_SIMPLE = re.compile(r"(?:[a-zA-Z][a-zA-Z0-9]*)?([.#][\w-]+)")
# Of at most four parts, so that looking for it stays cheap.
_PLAIN_SELECTOR = re.compile(r"[^\s>+~:]{1,80}(?:[\s>+~]{1,5}[^\s>+~:]{1,80}){0,3}")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


@dataclass(slots=True)
class _Sheet:
    """What the page's own style sheets say: selectors that hide, inks and grounds by class and id."""

    hides: dict[str, None] = field(default_factory=dict)
    inks: dict[str, str] = field(default_factory=dict)
    grounds: set[str] = field(default_factory=set)


def hidden_spans(document: Document, source: Source) -> list[tuple[int, int]]:
    """Where in the source stands what cannot be seen; sorted, and may overlap."""
    sheet = _read_sheets(document)
    found: list[Element] = list(document.select(_UNSEEN_TAGS))
    for selector in list(sheet.hides)[:MAX_SELECTORS]:
        found += _selected(document, selector)
    white = ", ".join([name for name, ink in sheet.inks.items() if ink in _PAPER][:MAX_SELECTORS])
    told = document.select(_TOLD) + (_selected(document, white) if white else [])
    found += [each for each in told if _is_hidden(each, sheet)]
    spans = {span for element in found if (span := _span(element, source)) is not None}
    return sorted(spans)


def _selected(document: Document, selector: str) -> list[Element]:
    """What a selector of the page's names; a page that fades in as a whole is not hidden."""
    try:
        found = document.select(selector)
    except ValueError:  # not a selector, or of a kind that no element answers to
        return []
    return [element for element in found if element.tag not in ("html", "body")]


def _read_sheets(document: Document) -> _Sheet:
    sheet, left = _Sheet(), MAX_STYLES
    for style in document.select("style"):
        text = style.text[:left]
        left -= len(text)
        for number, match in enumerate(_RULE.finditer(_COMMENT.sub("", text))):
            if number > MAX_RULES:
                break
            _note(sheet, match[1], match[2].lower())
    return sheet


def _note(sheet: _Sheet, selectors: str, declared: str) -> None:
    hides, ink, ground = _HIDES.search(declared), _ink(declared), _has_ground(declared)
    if not (hides or ink or ground):
        return
    for selector in map(str.strip, selectors.split(",")[:50]):
        if hides and _PLAIN_SELECTOR.fullmatch(selector):
            sheet.hides[selector] = None
        simple = _SIMPLE.fullmatch(selector)
        if simple is None:
            continue
        if ink:
            sheet.inks[simple[1]] = ink
        if ground:
            sheet.grounds.add(simple[1])


def _ink(declared: str) -> str | None:
    match = _INK.search(declared)
    return re.sub(r"\s+", "", match[1]) if match else None


def _has_ground(declared: str) -> bool:
    """Whether something else than paper is painted behind the text."""
    match = _GROUND.search(declared)
    if match is None:
        return False
    said = match[1].strip()
    return said.split()[0] not in _PAPER | {"none", "transparent", "inherit", "initial", "unset"}


def _names(element: Element) -> list[str]:
    """The classes and the id of an element as selectors."""
    classes = (element.attr("class") or "").split()[:50]
    own = element.attr("id") or ""
    return [f".{name}" for name in classes] + ([f"#{own}"] if own else [])


def _is_hidden(element: Element, sheet: _Sheet) -> bool:
    if element.tag in ("html", "body"):
        return False  # a page that fades in
    style = (element.attr("style") or "").lower()[:2_000]
    names = _names(element)
    if element.attr("hidden") is not None or element.attr("aria-hidden") == "true":
        return True
    if element.tag in ("input", "dialog") or _HIDES.search(style):
        return True
    if not _HIDING_CLASSES.isdisjoint(names):
        return True
    ink = (
        _ink(style)
        or _font(element)
        or next((sheet.inks[name] for name in names if name in sheet.inks), None)
    )
    if ink not in _PAPER:
        return _same_colour(style)
    return not _is_painted(element, sheet)


def _font(element: Element) -> str | None:
    return (element.attr("color") or "").strip().lower() or None if element.tag == "font" else None


def _same_colour(style: str) -> bool:
    ink, ground = _ink(style), _GROUND.search(style)
    return ink is not None and ground is not None and ground[1].strip().startswith(ink)


def _is_painted(element: Element, sheet: _Sheet) -> bool:
    """Whether white text stands on something that is not white."""
    place: Element | None = element
    for _ in range(60):
        if place is None:
            return False
        style = (place.attr("style") or "").lower()[:2_000]
        if (
            place.attr("bgcolor")
            or _has_ground(style)
            or not sheet.grounds.isdisjoint(_names(place))
        ):
            return True
        parent = place.parent
        place = parent if isinstance(parent, Element) else None
    return False


def _span(element: Element, source: Source) -> tuple[int, int] | None:
    begin = source.before(element, closing=False)
    if begin is None:
        return None
    return begin, _end(element, source)


def _end(element: Element, source: Source) -> int:
    """Where an element ends; of one without an end tag, where the next one begins at the latest."""
    place: Element | None = element
    for _ in range(200):
        if place is None:
            break
        location = place.source_location
        if location is not None and location.end_tag is not None:
            if place is element:
                return source.after(place, closing=True) or len(source.text)
            return source.before(place, closing=True) or len(source.text)
        following = place.next_sibling
        while following is not None and not isinstance(following, Element):
            following = following.next_sibling
        start = None if following is None else source.before(following, closing=False)
        if start is not None:
            return start
        parent = place.parent
        place = parent if isinstance(parent, Element) else None
    return len(source.text)
