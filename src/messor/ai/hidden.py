"""Finds elements that a visitor does not see, as spans of the source.

Detected by attributes, inline style, simple rules of the page's own style sheets, and the marks of
a browser that rendered the page with all styles. For unrendered pages, rules in external files are
unknown. In doubt an element counts as hidden: this can lose text for the model, never a fact. The
content of a closed <details> counts as visible if there is something to open it with.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice

from turbohtml import Document, Element

from messor.ai.stylesheets import Variables, plain, resolved, sheets, variables
from messor.content.plain import one_space
from messor.content.spans import SourceText
from messor.web.unseen import UNSEEN_MARK

MAX_RULES = 10_000  # including ends of nested ones
MAX_SELECTORS = 200

# Their text is not the page's, or not displayed as is.
_UNSEEN_TAGS = (
    "script, style, template, noscript, textarea, select, datalist, iframe, object, svg, math, "
    "canvas, audio, video, noframes, noembed, xmp, plaintext, head meta, head link"
)
# Names in common style sheets, whose files are not available.
_HIDING_CLASSES = frozenset(
    (
        ".sr-only", ".visually-hidden", ".visuallyhidden", ".screen-reader-text", ".screen-reader",
        ".screenreader", ".d-none", ".hidden", ".hide", ".invisible", ".is-hidden", ".u-hidden",
        ".element-invisible", ".offscreen", ".off-screen", ".assistive-text", ".opacity-0",
        ".text-transparent",
    )
)  # fmt: skip
_BY_ATTRIBUTE = (
    f'[hidden], [aria-hidden="true" i], [{UNSEEN_MARK}], [popover], [style], input[type="hidden" i], '
    "dialog:not([open]), details:not([open]), font[color], " + ", ".join(sorted(_HIDING_CLASSES))
)
_HIDES = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|content-visibility\s*:\s*hidden"
    r"|(?<![-\w])opacity\s*:\s*0?\.?0{1,4}\d?(?![.\d])|font-size\s*:\s*[01](?:\.\d{0,4})?(?:px|pt|em|rem|%)?\s*(?:;|!|$)"
    r"|text-indent\s*:\s*-\d{3,}|(?:left|top|right|bottom)\s*:\s*-\d{3,}"
    r"|clip(?:-path)?\s*:\s*(?:rect\(\s*[01]|inset\(\s*(?:50|100)|circle\(\s*0)"
    r"|(?<![-\w])(?:max-)?(?:height|width)\s*:\s*[01](?:px)?\s*(?:;|!|$)|transform\s*:\s*scale[xy]?\(\s*0"
    r"|(?<![-\w])(?:-webkit-text-fill-)?color\s*:\s*(?:transparent|(?:rgba|hsla)\([^)]{0,40},\s*0?\.?0\s*\)"
    r"|#[0-9a-f]{6}0[0-9a-f](?![0-9a-f]))|z-index\s*:\s*-\d{2,}"
    r"|(?<![-\w])font\s*:\s*(?:[a-z]{1,20}\s+){0,4}0(?:px|pt|em|rem|%)?[\s/]|inset\s*:[^;]{0,60}-\d{3,}"
    r"|translate(?:[xy]|3d)?\s*[:(][^;)]{0,60}-\d{3,}(?:px|r?em|v[wh])|(?<![-\w])scale\s*:\s*0(?![.\d])"
    r"|zoom\s*:\s*(?:0(?![.\d])|0?\.0)|filter\s*:[^;]{0,60}opacity\(\s*0?\.?0{0,4}%?\s*\)|display\s*:\s*table-column"
)
# A value set by an external file; only a hiding fallback is useful.
_DOUBTFUL = re.compile(
    r"(?:^|[;{\s])(?:display|visibility|content-visibility|clip-path)\s*:\s*unknown"
)
_COLOUR = r"(#[0-9a-f]{3,8}|[a-z]{3,20}|rgb\([^)]{0,40}\)|hsl\([^)]{0,40}\))"
_INK = re.compile(rf"(?<![-\w])color\s*:\s*{_COLOUR}")
_GROUND = re.compile(r"(?<![-\w])background(?:-color|-image)?\s*:\s*([^;}]{1,200})")
_PAPER = frozenset(
    ("#fff", "#ffff", "#ffffff", "#ffffffff", "white", "snow", "ivory", "#fefefe", "#fdfdfd",
     "#fcfcfc", "#fafafa", "ghostwhite", "whitesmoke", "rgb(255,255,255)", "hsl(0,0%,100%)")
)  # fmt: skip
# Selectors with their declarations, or neither; each character is scanned once.
_RULE = re.compile(r"([^{}]*+)(?:\{([^{}]*+)\}|[{}]|\Z)")
_MAX_SELECTOR, _MAX_DECLARED = 2_000, 5_000
_MAX_SELECTORS, _MAX_OF_ONE = 50, 400  # of one rule
_SIMPLE = re.compile(r"(?:[a-zA-Z][a-zA-Z0-9]*)?([.#][\w-]+)")
# At most four parts, so that matching stays cheap. Only structural pseudo-classes.
_PART = (
    r"[^\s>+~:]{0,80}(?::(?:first|last|only|nth|nth-last)-(?:child|of-type)(?:\([^()]{1,20}\))?"
    r"|:(?:not|is|where|has)\([^():]{1,80}\)|:empty)?"
)
_BETWEEN_SELECTORS = re.compile(r",(?![^(]*\))")
_PLAIN_SELECTOR = re.compile(rf"{_PART}(?:[\s>+~]{{1,5}}{_PART}){{0,3}}")


@dataclass(slots=True)
class _Sheet:
    """The page's own style sheets: hiding selectors, text and background colours by class and id."""

    variables: Variables
    hides: dict[str, None] = field(default_factory=dict)
    inks: dict[str, str] = field(default_factory=dict)
    grounds: set[str] = field(default_factory=set)


def hidden_spans(document: Document, source: SourceText) -> list[tuple[int, int]]:
    """Return the source spans of invisible content, sorted; they may overlap."""
    sheet = _read_sheets(document)
    found: list[Element] = list(document.select(_UNSEEN_TAGS))
    for selector in list(sheet.hides)[:MAX_SELECTORS]:
        found += _selected(document, selector)
    white = ", ".join([name for name, ink in sheet.inks.items() if ink in _PAPER][:MAX_SELECTORS])
    candidates = document.select(_BY_ATTRIBUTE) + (_selected(document, white) if white else [])
    found += [each for each in candidates if _is_hidden(each, sheet)]
    spans = {span for element in found if (span := _span(element, source)) is not None}
    return sorted(spans)


def _selected(document: Document, selector: str) -> list[Element]:
    """Return the elements a selector matches; a page that fades in as a whole is not hidden."""
    try:
        found = document.select(selector)
    except ValueError:  # an invalid or unsupported selector
        return []
    return [element for element in found if element.tag not in ("html", "body")]


def _read_sheets(document: Document) -> _Sheet:
    texts = sheets(document)
    sheet = _Sheet(variables(document, texts))
    for text in texts:
        _read_rules(sheet, text)
    return sheet


def _read_rules(sheet: _Sheet, text: str) -> None:
    """Read rules, including nested ones; interleaved declarations belong to the outer rule."""
    within: list[list[str]] = []  # selectors of the open rules
    for match in islice(_RULE.finditer(text), MAX_RULES):
        outer = within[-1] if within else []
        if match[2] is None and match[0].endswith("}"):
            _note(sheet, outer, match[1])
            del within[-1:]
            continue
        declared, _, prelude = match[1].rpartition(";")
        _note(sheet, outer, declared)
        selectors = _selectors(prelude, outer)
        if match[2] is not None:
            _note(sheet, selectors, match[2])
        elif match[0].endswith("{"):
            within.append(selectors)


def _selectors(prelude: str, outer: list[str]) -> list[str]:
    """Return the selectors before a brace, combined with the outer ones; an at-rule keeps those."""
    if prelude.lstrip().startswith("@"):
        return outer
    own = [each.strip() for each in _BETWEEN_SELECTORS.split(prelude[:_MAX_SELECTOR])]
    joined = (
        each.replace("&", around) if "&" in each else f"{around} {each}"
        for each in own
        for around in outer
    )
    found = list(islice(joined, _MAX_SELECTORS)) if outer else own[:_MAX_SELECTORS]
    return [each for each in found if len(each) <= _MAX_OF_ONE]


def _note(sheet: _Sheet, selectors: list[str], declared: str) -> None:
    if not selectors or not declared:
        return
    ways = list(resolved(plain(declared[:_MAX_DECLARED]), sheet.variables))
    hides = any(map(_hides, ways))
    ink = next((ink for way in ways if (ink := _ink(way)) in _PAPER), None) or _ink(ways[0])
    ground = all(map(_has_ground, ways))
    if not (hides or ink or ground):
        return
    for selector in selectors:
        if hides and selector and _PLAIN_SELECTOR.fullmatch(selector):
            sheet.hides[selector] = None
        simple = _SIMPLE.fullmatch(selector)
        if simple is None:
            continue
        if ink:
            sheet.inks[simple[1]] = ink
        if ground:
            sheet.grounds.add(simple[1])


def _hides(declared: str) -> bool:
    return _HIDES.search(declared) is not None or _DOUBTFUL.search(declared) is not None


def _ink(declared: str) -> str | None:
    match = _INK.search(declared)
    return re.sub(r"\s+", "", match[1]) if match else None


def _has_ground(declared: str) -> bool:
    """Whether there is a non-white background behind the text."""
    match = _GROUND.search(declared)
    if match is None:
        return False
    background = match[1].strip()
    return background.split()[0] not in _PAPER | {
        "none",
        "transparent",
        "inherit",
        "initial",
        "unset",
    }


def _names(element: Element) -> list[str]:
    """Return the classes and the id of an element as selectors."""
    classes = (element.attr("class") or "").split()[:50]
    own = element.attr("id") or ""
    return [f".{name}" for name in classes] + ([f"#{own}"] if own else [])


def _is_hidden(element: Element, sheet: _Sheet) -> bool:
    if element.tag in ("html", "body"):
        return False  # a page that fades in
    if _is_hidden_by_name(element):
        return True
    ways = list(resolved(plain((element.attr("style") or "")[:2_000]), sheet.variables))
    return any(map(_hides, ways)) or any(_is_faint(element, way, sheet) for way in ways)


def _is_hidden_by_name(element: Element) -> bool:
    """Whether an attribute or a class name hides the element."""
    if element.tag == "details":
        return element.attr("open") is None and not _can_be_opened(element)
    if element.tag in ("input", "dialog") or (element.attr("aria-hidden") or "").lower() == "true":
        return True
    if any(element.attr(name) is not None for name in ("hidden", "popover", UNSEEN_MARK)):
        return True
    return not _HIDING_CLASSES.isdisjoint(_names(element))


def _can_be_opened(details: Element) -> bool:
    """Whether a visitor sees something to open it with."""
    summary = next(
        (each for each in details if isinstance(each, Element) and each.tag == "summary"), None
    )
    return summary is not None and bool(one_space(summary.text)) and not _is_hidden_by_name(summary)


def _is_faint(element: Element, style: str, sheet: _Sheet) -> bool:
    """Whether a text has the colour of its background."""
    ink = (
        _ink(style)
        or _font(element)
        or next((sheet.inks[name] for name in _names(element) if name in sheet.inks), None)
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
    """Whether white text is on a background that is not white."""
    place: Element | None = element
    for _ in range(60):
        if place is None:
            return False
        style = plain((place.attr("style") or "")[:2_000])
        if (
            place.attr("bgcolor")
            or all(map(_has_ground, resolved(style, sheet.variables)))
            or not sheet.grounds.isdisjoint(_names(place))
        ):
            return True
        parent = place.parent
        place = parent if isinstance(parent, Element) else None
    return False


def _span(element: Element, source: SourceText) -> tuple[int, int] | None:
    begin = source.before(element, closing=False)
    if begin is None:
        return None
    return begin, _end(element, source)


def _end(element: Element, source: SourceText) -> int:
    """Return where an element ends; without an end tag, at the latest where the next one begins."""
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
