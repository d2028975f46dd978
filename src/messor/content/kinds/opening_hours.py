"""Opening hours: days with opening and closing times."""

from __future__ import annotations

import re
from typing import Literal

from messor.content.dates import fold
from messor.content.evidence import Passage
from messor.content.hours import is_day, ranges_with_hours, read_days, read_hours, statements
from messor.content.items import PageItem
from messor.content.kinds.build import STATED, VISIBLE, distinct, field_of, make, property_field
from messor.content.kinds.declaration import RecordKind
from messor.content.kinds.line_hints import TIMES, page_hints, times_of
from messor.content.lines import Line
from messor.content.records import Record
from messor.content.schemas.base import Day, FieldsModel, Stated, Strict, Time
from messor.content.view import PageView

KIND = "opening_hours"
MAX_HOURS = 100
_MAX_LINE = 120
_MAX_TEXT = 600  # characters of a paragraph that may state hours
_MAX_DAYS = 60  # characters of a line that names days, or hours, and nothing else
_REACH = 40  # lines after a label
_ENOUGH = 3  # statements required on a page that does not announce opening hours
_SPECIFIED = frozenset(("OpeningHoursSpecification",))
# Labels by their common part, the only text to search for on most pages.
_LABELS = {
    "hours": (
        "opening hours", "business hours", "store hours", "office hours", "hours of operation",
        "our hours", "\nhours\n",
    ),
    "opening": ("opening times", "openingstijden", "openingsuren"),
    "zeiten": ("offnungszeiten", "sprechzeiten", "geschaftszeiten", "burozeiten"),
    "sprechstunde": ("sprechstunde",),
    "horaires": ("horaires",),
    "heures d": ("heures d'ouverture", "heures d\u2019ouverture"),
    "orari": ("horario", "\norari", "orari di", "orario di"),
    "tider": ("oppettider", "apningstider", "abningstider"),
    "godziny otwarcia": ("godziny otwarcia",),
    "aukioloajat": ("aukioloajat",),
    "oteviraci doba": ("oteviraci doba",),
    "calisma saatleri": ("calisma saatleri",),
    "nyitvatartas": ("nyitvatartas",),
    " работы": ("режим работы", "часы работы", "график работы"),
    "години роботи": ("години роботи",),
    "ωραριο": ("ωραριο",),
    "時間": ("営業時間", "開館時間", "診療時間", "營業時間"),
    "营业时间": ("营业时间",),
    "영업시간": ("영업시간",),
    "radno vrijeme": ("radno vrijeme",),
    "работно време": ("работно време",),
}  # fmt: skip
_ALWAYS = re.compile(r"(?<!\d)24\s?(?:/|h)", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"[^\W\d_]{2,}")
# Words between days and hours.
_JOINING = frozenset(
    [
        "and",
        "from",
        "to",
        "am",
        "pm",
        "until",
        "till",
        "open",
        "und",
        "von",
        "bis",
        "uhr",
        "et",
        "de",
        "des",
        "y",
        "ed",
        "en",
    ]
)


Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


class Span(Strict):
    """From when to when, in local time; closing before opening means the next day."""

    opens: Time
    closes: Time


class OpeningHoursFields(FieldsModel):
    """Days with their hours; no span at all means closed."""

    days: Stated[list[Weekday]]
    hours: Stated[list[Span]] | None = None
    opens: Stated[Time] | None = None
    closes: Stated[Time] | None = None
    valid_from: Stated[Day] | None = None
    valid_through: Stated[Day] | None = None


def find(page: PageView) -> list[Record]:
    """Return the opening hours of a page, one record per statement."""
    found = [_specified(item) for item in page.items_of(_SPECIFIED)[:MAX_HOURS]]
    for item in page.items:
        found.extend(_written(passage) for passage in item.texts("openingHours")[:20])
    stated = [record for record in found if record is not None]
    return distinct(stated or _visible(page) or _in_text(page))[:MAX_HOURS]


def _specified(item: PageItem) -> Record | None:
    found = {
        "days": field_of(item.listed("dayOfWeek"), "days", STATED),
        "valid_from": property_field(item, "validFrom", normaliser="day"),
        "valid_through": property_field(item, "validThrough", normaliser="day"),
    }
    opens, closes = (
        property_field(item, "opens", normaliser="time"),
        property_field(item, "closes", normaliser="time"),
    )
    if opens is not None and closes is not None and opens.value == closes.value == "00:00":
        # schema.org's notation for closed all day; open all day is until 23:59.
        shut = property_field(item, "closes", normaliser="shut")
        return make(KIND, {**found, "hours": shut}, needs=("days", "hours"))
    return make(
        KIND, {**found, "opens": opens, "closes": closes}, needs=("days", "opens", "closes")
    )


def _written(passage: Passage) -> Record | None:
    days, hours = passage.field("days", STATED), passage.field("hours", STATED)
    return make(KIND, {"days": days, "hours": hours}, needs=("days", "hours"))


def _visible(page: PageView) -> list[Record]:
    labels = [
        label
        for stem, own in _LABELS.items()
        if stem in page.folded
        for label in own
        if label in page.folded
    ]
    if not labels and not times_of(page):
        return _in_text(page)
    found: list[Record] = []
    days: Line | None = None  # a line with days only, waiting for its hours
    for line in _near_labels(page, labels) if labels else page.lines:
        if len(line.text) > _MAX_LINE or not (len(line.text) < 40 or _DIGIT.search(line.text)):
            days = None
            continue
        records, days = _of_line(page, line, days)
        found.extend(records)
        if len(found) >= MAX_HOURS:
            break
    if labels or len(found) >= _ENOUGH:
        return found
    return _in_text(page) or list(filter(_is_of_several_days, found))


def _is_of_several_days(record: Record) -> bool:
    """Whether hours hold for several days: those of a single one may be an event's."""
    return len(record.value("days")) > 1 and bool(record.value("hours"))


def _in_text(page: PageView) -> list[Record]:
    """Return hours of ranges of days that stand in any text, or in two lines one below the other."""
    found: list[Record] = []
    for line, hints in zip(page.lines, page_hints(page), strict=True):
        if not (hints & TIMES and len(line.text) <= _MAX_TEXT) and not _says_always(line.text):
            continue
        for piece in ranges_with_hours(line.text):
            passage = page.passage(line, piece)
            if (made := _made(passage, passage)) is not None:
                found.append(made)
        if not found and len(line.text) < _MAX_DAYS:
            found.extend(_of_two(page, line))
        if len(found) >= MAX_HOURS:
            break
    return found


def _says_always(text: str) -> bool:
    """Whether a line says that a place is always open; in running text it is a figure of speech."""
    return len(text) <= _MAX_LINE and _ALWAYS.search(text) is not None


def _of_two(page: PageView, line: Line) -> list[Record]:
    """Return the hours of a line for the days that the line before or after it names."""
    if read_days(line.text) is not None or not read_hours(line.text):
        return []
    for beside in (line.number - 1, line.number + 1):
        other = page.lines[beside] if 0 <= beside < len(page.lines) else None
        if other is None or len(other.text) > _MAX_DAYS or _DIGIT.search(other.text):
            continue
        if len(read_days(other.text) or ()) > 1:
            made = _made(page.passage(other), page.passage(line))
            return [made] if made is not None else []
    return []


def _near_labels(page: PageView, labels: list[str]) -> list[Line]:
    """Return the lines a label may refer to."""
    until = -1
    found = []
    for line, folded in zip(page.lines, page.folded.split("\n"), strict=True):
        if any(label in f"\n{folded}\n" for label in labels):
            until = line.number + _REACH
        if line.number <= until:
            found.append(line)
    return found


def _of_line(page: PageView, line: Line, days: Line | None) -> tuple[list[Record], Line | None]:
    """Return the records a line completes, and the line itself if it only names days."""
    named = read_days(line.text)
    if not named and days is None:
        return [], None
    hours = read_hours(line.text)
    if (not named and hours is None) or not _is_terse(line.text):
        return [], None
    if named and hours is not None:
        passages = [page.passage(line, piece) for piece in statements(line.text)]
        return [made for each in passages if (made := _made(each, each)) is not None], None
    if named and not _DIGIT.search(line.text):
        return [], line
    if hours is not None and not named and days is not None:
        # Several time spans may follow one day, each on its own line.
        record = _made(page.passage(days), page.passage(line))
        return [record] if record is not None else [], days
    return [], None


def _made(days: Passage, hours: Passage) -> Record | None:
    found = {"days": days.field("days", VISIBLE), "hours": hours.field("hours", VISIBLE)}
    return make(KIND, found, needs=("days", "hours"))


def _is_terse(text: str) -> bool:
    """Whether a line contains hardly more than days and hours."""
    words = _WORD.findall(fold(text))
    telling = [word for word in words if word not in _JOINING and not is_day(word)]
    return len(telling) <= 3 + len(words) // 4


DECLARATION = RecordKind(
    KIND,
    OpeningHoursFields,
    identity=(("days", "valid_from"), ("days",)),
    titles=("days",),
    find=find,
    prompt="days and the hours at which a place is open on them",
    normalisers={
        "days": "days",
        "hours": "hours",
        "opens": "time",
        "closes": "time",
        "valid_from": "day",
        "valid_through": "day",
    },
)
