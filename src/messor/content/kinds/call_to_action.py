"""Calls to action: buttons and links that ask the visitor to do something (W-5).

Only phrases of a fixed table are actions, so that menus are not mistaken for them.
"""

from __future__ import annotations

import re
from typing import Literal

from turbohtml import Element

from messor.content.dates import fold
from messor.content.evidence import NORMALISERS
from messor.content.kinds.action_words import ACTIONS
from messor.content.kinds.build import LINKED, VISIBLE, distinct, make
from messor.content.kinds.declaration import RecordKind
from messor.content.plain import one_space
from messor.content.records import Record
from messor.content.schemas.base import FieldsModel, Link, Stated, Text
from messor.content.view import PageView

KIND = "call_to_action"
MAX_ACTIONS = 60
MAX_BUTTONS = 500
_MAX_LABEL = 60
_LONGEST = 4 * _MAX_LABEL  # including white space
# One by one: a tag is an index lookup, a selector list walks the whole tree.
_BUTTONS = (
    "button", 'input[type="submit"]', 'input[type="button"]', 'div[role="button"]',
    'span[role="button"]', 'a[role="button"]', 'li[role="button"]', 'label[role="button"]',
)  # fmt: skip
_MAX_BUTTONS = re.compile(r"btn|button|cta", re.IGNORECASE)
_ENTRIES = frozenset(("contact", "learn_more"))
_TRIM = " .!?\u2192\u00bb\u203a>\u25b6\u25ba*|\u2022-\u2013:\u2026"


Action = Literal[
    "book", "buy", "contact", "call", "quote", "sign_up", "trial", "download", "subscribe",
    "donate", "apply", "learn_more",
]  # fmt: skip


class CallToActionFields(FieldsModel):
    label: Stated[Text]
    action: Stated[Action]
    url: Stated[Link] | None = None


def read_action(text: str) -> str | None:
    """Return the action a label asks for; None if it is not a known one."""
    if len(text) > 2 * _MAX_LABEL:
        return None
    words = one_space(fold(text)).strip(_TRIM)
    found = ACTIONS.get(words)
    if found is None and len(words) <= _MAX_LABEL:
        found = next((act for phrase, act in _BEGINNINGS if words.startswith(phrase)), None)
    return found


# Phrases of two or more words also count at the start of a label: "book now online".
_BEGINNINGS = tuple(
    (f"{phrase} ", act) for phrase, act in ACTIONS.items() if " " in phrase and len(phrase) > 7
)
_FIRST = frozenset(phrase.split()[0] for phrase in ACTIONS)


def find(page: PageView) -> list[Record]:
    """Return the distinct calls to action of a page."""
    found: list[Record] = []
    seen: set[tuple[str, str]] = set()
    may_be = page.memory.memo(_may_be)
    links = [
        (label, each)
        for each in page.anchors
        if 1 < len(label := each.text) <= _LONGEST and may_be[label]
    ]
    for label, element in (*links, *_buttons(page)):
        key = (one_space(fold(label)), element.attr("href") or "")
        action = None if key in seen else read_action(label)
        if action is None or not _is_call(element, action):
            continue
        seen.add(key)
        record = _made(page, element)
        if record is not None:
            found.append(record)
        if len(found) >= MAX_ACTIONS:
            break
    return distinct(found)


def _buttons(page: PageView) -> list[tuple[str, Element]]:
    """Return the first buttons that may be calls to action, with their labels."""
    found = list({each: None for button in _BUTTONS for each in page.document.select(button)})
    if len(found) > MAX_BUTTONS:
        found = sorted(found, key=page.page.start)[:MAX_BUTTONS]
    may_be = page.memory.memo(_may_be)
    asking = [
        (label, each)
        for each in found
        if 1 < len(label := _label(each)) <= _LONGEST and may_be[label]
    ]
    return sorted(asking, key=lambda pair: page.page.start(pair[1]))


def _label(button: Element) -> str:
    return button.text if button.tag != "input" else button.attr("value") or ""


def _may_be(label: str) -> bool:
    """Cheap check of the first word."""
    words = label.split(None, 1)
    return bool(words) and fold(words[0]).strip(_TRIM) in _FIRST


def _is_call(element: Element, action: str) -> bool:
    """Whether an element is a call to action, not just a menu entry with the same text."""
    if element.tag != "a" or _MAX_BUTTONS.search(element.attr("class") or ""):
        return True
    return (
        action not in _ENTRIES and element.closest("nav, footer, header, [role=navigation]") is None
    )


def _made(page: PageView, element: Element) -> Record | None:
    is_input = element.tag == "input"
    label = page.attribute(element, "value") if is_input else page.inside(element)
    linked = element.tag == "a"
    sure = LINKED if not linked or _MAX_BUTTONS.search(element.attr("class") or "") else VISIBLE
    return make(
        KIND,
        {
            "label": label.field("text", sure),
            "action": label.field("action", sure),
            "url": page.attribute(element, "href").field("link", sure) if linked else None,
        },
        needs=("label", "action"),
    )


NORMALISERS.add("action", read_action)


DECLARATION = RecordKind(
    KIND,
    CallToActionFields,
    identity=(("label", "url"), ("label",)),
    subject="label",
    find=find,
    prompt="a button or link that asks the visitor to do something",
    is_asked_without_vertical=True,
    normalisers={"action": "action"},
    derived={"action": "label"},
    is_linked=True,
)
