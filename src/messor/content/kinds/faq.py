"""Questions and answers, from structured data or from headings and terms that ask."""

from __future__ import annotations

from messor.content.kinds.build import VISIBLE, distinct, make, property_field
from messor.content.kinds.declaration import RecordKind
from messor.content.lines import Line
from messor.content.page_signs import QUESTION_MARKS
from messor.content.page_type import WRITTEN, page_type
from messor.content.records import Record
from messor.content.schemas.base import FieldsModel, Stated, Text
from messor.content.view import PageView

KIND = "faq"
MAX_QUESTIONS = 200
_MAX_QUESTION = 250
_MAX_ANSWER_LINES = 40
_ENOUGH = 3  # questions required on a page that is not an FAQ by type
_QUESTIONS = frozenset(("Question",))
_ASKING = frozenset(("h2", "h3", "h4", "h5", "h6", "dt", "summary", "button", "strong"))


class FaqFields(FieldsModel):
    question: Stated[Text]
    answer: Stated[Text]


def find(page: PageView) -> list[Record]:
    """Return the questions a page answers."""
    found = []
    for item in page.items_of(_QUESTIONS)[:MAX_QUESTIONS]:
        answer = item.item("acceptedAnswer", "suggestedAnswer")
        fields = {
            "question": property_field(item, "name", "text"),
            "answer": property_field(answer, "text", normaliser="long_text"),
        }
        found.append(make(KIND, fields, needs=("question", "answer")))
    stated = [record for record in found if record is not None]
    return distinct(stated or _visible(page))


def _visible(page: PageView) -> list[Record]:
    if not any(mark in page.folded for mark in QUESTION_MARKS):
        return []
    kind = page_type(page).name
    unfolds = kind == "faq"
    questions = [line for line in page.lines if _is_question(line) or (unfolds and _unfolds(line))]
    if len(questions) < (2 if kind == "faq" else _ENOUGH) or kind in (*WRITTEN, "search", "login"):
        return []
    found = []
    for line in questions[:MAX_QUESTIONS]:
        answer = _answer(page, line)
        if answer:
            fields = {
                "question": page.passage(line).field("text", VISIBLE),
                "answer": page.between(answer[0], answer[-1]).field("long_text", VISIBLE),
            }
            found.append(make(KIND, fields, needs=("question", "answer")))
    made = [record for record in found if record is not None]
    return made if len(made) >= (2 if kind == "faq" else _ENOUGH) else []


def _is_question(line: Line) -> bool:
    return (
        10 <= len(line.text) <= _MAX_QUESTION
        and line.text[-1] in QUESTION_MARKS
        and line.region not in ("nav", "footer")
        and (line.level > 0 or line.element.tag in _ASKING or _is_button(line))
    )


def _unfolds(line: Line) -> bool:
    """Whether a line expands an answer without being a question: "Returns" on an FAQ page."""
    return line.element.tag == "summary" and 3 <= len(line.text) <= _MAX_QUESTION


def _is_button(line: Line) -> bool:
    """Whether a line is in a control that expands an answer."""
    element = line.element
    return bool(element.attr("aria-controls") or element.attr("aria-expanded"))


def _answer(page: PageView, line: Line) -> list[Line]:
    """Return the lines up to the next question or heading."""
    found: list[Line] = []
    for following in page.lines[line.number + 1 : line.number + 1 + _MAX_ANSWER_LINES]:
        if following.level or _is_question(following) or following.region != line.region:
            break
        if following.element.tag in ("dt", "summary"):
            break
        found.append(following)
    return found


DECLARATION = RecordKind(
    KIND,
    FaqFields,
    identity=(("question",),),
    subject="question",
    find=find,
    prompt="faq",
    normalisers={"answer": "long_text"},
)
