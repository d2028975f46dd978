"""Days of the week and times of day, as written in opening hours.

`read_days` and `read_hours` derive values from a text; finding such texts on a page is the job of
the opening hours reader.
"""

from __future__ import annotations

import re

from messor.content.dates import fold, read_date
from messor.content.evidence import NORMALISERS
from messor.core.words import load

_WORDS = load("messor.content", "days")
DAYS = tuple(_WORDS)
# In reverse, so that a word for two days means the first of them.
_INDEX = {
    word: number
    for number, name in reversed(list(enumerate(DAYS)))
    for word in _WORDS[name].split()
}
_ALL = re.compile(
    r"(?<!\w)(?:daily|every ?day|taglich|tous les jours|todos los dias|todos os dias|tutti i giorni|"
    r"dagelijks|codziennie|dagligen|daglig|dagligt|paivittain|denne|her gun|ежедневно|щодня|"
    r"καθημερινα|(?:7|seven) ?days (?:a|per|/) ?week|365 days(?: a year)?|24 ?/ ?7|7 dagen per week|"
    r"7 tage die woche|7 jours sur 7|7j/7)(?!\w)"
)
_WEEKDAYS = re.compile(
    r"(?<!\w)(?:weekdays|werktags|wochentags|en semaine|dias laborables|giorni feriali|dias uteis|"
    r"doordeweeks|dni robocze|vardagar|hverdage|hverdager|arkisin|vsedni dny|hafta ici|будни|по будням)(?!\w)"
)
_TO = (
    r"(?:\s{0,2}(?:-|\u2010|\u2011|\u2012|\u2013|\u2014|\u2192|~|\u301c|\uff5e|\ufffd|t/m)\s{0,2}|\s{1,2}(?:bis zum|bis|tot en met|tot"
    r"|through|thru|till|til|to|alle|al|au|ate|as|a|do|по|до)\s{1,2})"
)
# Ambiguous words: between two days they are days.
_IN_RANGES = frozenset(("man", "per", "car", "sex", "to", "la", "we", "st", "sal", "tor", "son"))
# Single letters are days between two of them only: "M-F".
_LETTERS = {"m": 0, "w": 2, "f": 4}
_NAME = r"[^\W\d_]{1,14}(?:-feira)?"
_RANGE = re.compile(rf"(?<!\w)({_NAME})\.?{_TO}({_NAME})(?!\w)")
_WORD = re.compile(rf"(?<!\w){_NAME}(?!\w)")
_letters = re.compile(r"[^\W\d_]+").findall
_TIME = r"(\d{1,2})(?:\s?[:.h]\s?(\d{2}))?\s?(?:(a\.?m\.?|p\.?m\.?)(?![a-z])|uhr|h(?![a-z])|u(?![a-z])|kl)?"
_FROM = r"(?:(?<!\w)(?:from|von|de|dalle|od|kl\.?|c|\u0441)\s)?"
_HOURS = re.compile(rf"(?<![\d:.,-]){_FROM}{_TIME}{_TO}(?:kl\.?\s)?{_TIME}(?![\d:]|\.\d)")
_CLOSED = re.compile(
    r"(?<!\w)(?:closed|geschlossen|ruhetag|ferme|fermee|cerrado|chiuso|fechado|encerrado|gesloten|"
    r"zamkniete|nieczynne|stangt|lukket|suljettu|zavreno|kapali|закрыто|выходной|зачинено|κλειστα)(?!\w)"
)
_OPEN_ALL = re.compile(
    r"(?<!\w)(?:24 ?/ ?7|24 ?hours|24 ?stunden|24 ?h|rund um die uhr|24 ?heures|24 ?horas|24 ?ore)(?!\w)"
)
# A time after a date; a point before its minutes could belong to the date.
_AT = re.compile(
    r"(?<![\d.:/-])(\d{1,2})(?:\s?:\s?([0-5]\d)(?!\d)|[.h]([0-5]\d)(?=\s?(?:uhr|u|hrs?|h)(?!\w))"
    r"|h([0-5]\d)?(?!\w)|(?=\s?(?:uhr|[ap]\.?m)(?!\w)))(?:\s?([ap])\.?m(?!\w))?"
)
_NOON = re.compile(r"(?<!\w)(?:12 ?)?(?:noon|midday|mezzogiorno|mediodia|meio-dia)(?!\w)")
_MIDNIGHT = re.compile(
    r"(?<!\w)(?:12 ?)?(?:midnight|mitternacht|minuit|medianoche|mezzanotte|meia-noite|middernacht|midnatt)(?!\w)"
)
_BETWEEN = re.compile(
    rf"(?P<first>(?<!\w)(?:between|tussen|zwischen|entre)(?: the hours of)?\s{_TIME})"
    r"(?P<joint>\s(?:and|en|und|et|y|e)\s)(?=\d)"
)
# Days that are not those of every week.
_NOT_WEEKLY = re.compile(
    r"(?<!\w)(?:first|second|third|fourth|fifth|last|1st|2nd|3rd|4th|every other|alternate|ersten?|zweiten?|dritten?|"
    r"letzte[nr]?|premier|deuxieme|dernier|primer|segundo|ultimo)\s$"
)
_WRITTEN_TIME = re.compile(r"\d\s?(?:[ap]\.?m|uhr|h(?![a-z])|:\d)")
_PARTED = re.compile(r"\d|[.!?]\s+\w{4,}|@")
_MAX_GAP = 32
_MAX_JOINT = 16
_MAX_TEXT = 400


def read_days(text: str) -> list[str] | None:
    """Return the days a text names, in week order; None if it names none."""
    folded = fold(text[:_MAX_TEXT])
    if _ALL.search(folded):
        return list(DAYS)
    found: set[int] = set(range(5)) if _WEEKDAYS.search(folded) else set()
    words = _letters(folded)
    if not found and _INDEX.keys().isdisjoint(words) and _LETTERS.keys().isdisjoint(words):
        return None
    folded = _HOURS.sub(" ; ", folded)
    for match in _RANGE.finditer(folded):
        first, last = _ends(match)
        if first is not None and last is not None:
            found.update((first + step) % 7 for step in range((last - first) % 7 + 1))
            folded = folded[: match.start()] + " " * len(match[0]) + folded[match.end() :]
        elif (first is None) != (last is None) and " " not in match[0]:
            return None  # from or to a day that is not recognised
    for match in _WORD.finditer(folded):
        if match[0] in _INDEX and match[0] not in _IN_RANGES and _is_weekly(folded, match):
            found.add(_INDEX[match[0]])
    return [DAYS[number] for number in sorted(found)] or None


def _is_weekly(folded: str, day: re.Match[str]) -> bool:
    """Whether a day is that of every week, not the first Saturday of a month."""
    return _NOT_WEEKLY.search(folded[max(day.start() - _MAX_JOINT, 0) : day.start()]) is None


def _ends(match: re.Match[str]) -> tuple[int | None, int | None]:
    """Return the first and the last day of a range."""
    first, last = _INDEX.get(match[1]), _INDEX.get(match[2])
    return (
        _LETTERS.get(match[1]) if first is None else first,
        _LETTERS.get(match[2]) if last is None else last,
    )


def is_day(word: str) -> bool:
    """Whether a word names a day or several days."""
    return read_days(word) is not None


def read_hours(text: str) -> list[dict[str, str]] | None:
    """Return the time spans a text names; empty if it says closed, None if it says neither."""
    folded = _dashed(_MIDNIGHT.sub("24:00", _NOON.sub("12:00", fold(text[:_MAX_TEXT]))))
    spans = [span for match in _HOURS.finditer(folded) if (span := _span(match)) is not None]
    if spans:
        return spans
    if _OPEN_ALL.search(folded):
        return [{"opens": "00:00", "closes": "24:00"}]
    # Where a time is written, it is unknown what "closed" refers to.
    return [] if _CLOSED.search(folded) and not _WRITTEN_TIME.search(folded) else None


def _dashed(folded: str) -> str:
    """Write "between 9 and 17" as a range; the length stays."""
    return _BETWEEN.sub(lambda match: match["first"] + "-".center(len(match["joint"])), folded)


def ranges_with_hours(text: str) -> list[str]:
    """Return the pieces of a text that state hours for a range of days, in either order.

    A text without a range of days yields nothing: a single day is as often that of an event. Where
    there is one, single days beside it count as well.
    """
    folded = fold(text)
    folded = _dashed(folded if len(folded) == len(text) else text.lower())
    if len(folded) != len(text):
        return []
    ranges, singles = _day_spans(folded)
    hours = [match.span() for match in _HOURS.finditer(folded) if _span(match) is not None]
    hours += [match.span() for match in _OPEN_ALL.finditer(folded)]
    if not ranges or not hours:
        return []
    found, last = [], 0
    for begin, end in sorted(ranges + singles):
        paired = _beside(folded, begin, end, hours, last)
        if paired is not None:
            found.append(text[paired[0] : paired[1]])
            last = paired[1]
    return found


def _day_spans(folded: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return where ranges of days are named, and where single days."""
    ranges = [match.span() for match in _RANGE.finditer(folded) if None not in _ends(match)]
    ranges += [match.span() for each in (_ALL, _WEEKDAYS) for match in each.finditer(folded)]
    singles = [
        match.span()
        for match in _WORD.finditer(folded)
        if len(match[0]) > 2
        and match[0] in _INDEX
        and match[0] not in _IN_RANGES
        and _is_weekly(folded, match)
    ]
    return ranges, [
        span for span in singles if not any(begin <= span[0] < end for begin, end in ranges)
    ]


def _beside(
    folded: str, begin: int, end: int, hours: list[tuple[int, int]], last: int
) -> tuple[int, int] | None:
    """Return where days and the hours after them, or else before them, begin and end."""
    after = [span for span in hours if span[0] >= end and _is_gap(folded[end : span[0]])]
    if after:
        close = min(after)[1]
        for span in sorted(hours):
            if span[0] >= close and _is_joint(folded[close : span[0]]):
                close = span[1]
        return begin, close
    before = [span for span in hours if last <= span[0] and span[1] <= begin]
    if before and _is_gap(folded[max(before)[1] : begin]):
        return max(before)[0], end
    same = [span for span in hours if span[0] < end and span[1] > begin]  # "24/7"
    return (min(begin, same[0][0]), max(end, same[0][1])) if same else None


def _is_gap(between: str) -> bool:
    """Whether days and hours this far apart belong together."""
    return len(between) <= _MAX_GAP and not _PARTED.search(between)


def _is_joint(between: str) -> bool:
    return len(between) <= _MAX_JOINT and not _PARTED.search(between) and not is_day(between)


def _span(match: re.Match[str]) -> dict[str, str] | None:
    hour, minute, half, hour2, minute2, half2 = match.groups()
    if half is None and half2 and int(hour) < int(hour2):
        if half2.startswith("p") and int(hour) > 5:  # "8 to 10 pm": 8 am or pm?
            return None
        half = half2
    opens = _clock(hour, minute, half)
    closes = _clock(hour2, minute2, half2)
    if opens is None or closes is None or opens == closes:
        return None
    if closes < opens and not (minute or minute2 or half2):  # "9 to 5": 5 am or pm?
        return None
    return {"opens": "00:00" if opens == "24:00" else opens, "closes": closes}


def _clock(hour: str, minute: str | None, half: str | None) -> str | None:
    hours, minutes = int(hour), int(minute or 0)
    if half:
        if not 1 <= hours <= 12:
            return None
        hours = hours % 12 + (12 if half.startswith("p") else 0)
    if hours > 24 or minutes > 59 or (hours == 24 and minutes):
        return None
    return f"{hours:02}:{minutes:02}"


def statements(text: str) -> list[str]:
    """Split a text into statements of days with hours: a day after hours starts a new one."""
    lowered = fold(text)  # folded as for days and hours, so that all agree
    if len(lowered) != len(text):
        lowered = text.lower()
    if len(lowered) != len(text):
        return [text]
    ends = [match.end() for pattern in (_HOURS, _CLOSED) for match in pattern.finditer(lowered)]
    pieces: list[str] = []
    begin = 0
    for end in sorted(ends):
        following = _next_day(lowered, end)
        if following is not None and begin < end <= following:
            pieces.append(text[begin:end])
            begin = following
    return [*pieces, text[begin:]]


def _next_day(lowered: str, begin: int) -> int | None:
    """Return where the next day is named, if no digit precedes it."""
    match = _WORD.search(lowered, begin)
    if match is None or _INDEX.get(fold(match[0])) is None:
        return None
    return None if re.search(r"\d", lowered[begin : match.start()]) else match.start()


def read_time(text: str) -> str | None:
    """Return one time of day, as "09:00"."""
    match = re.match(rf"\s*(?:T)?{_TIME}", fold(text[:40]))
    return _clock(*match.groups()) if match and ":" in text else None


def read_moment(text: str) -> str | None:
    """Return the first date in a text with the first time of day; None without a date."""
    found = read_date(text)
    match = None if found is None or "T" in found else _AT.search(fold(text[:_MAX_TEXT]))
    if match is None:
        return found
    hour, *minutes, half = match.groups()
    clock = _clock(hour, next(filter(None, minutes), None), half)
    return found if clock is None or clock == "24:00" else f"{found}T{clock}:00"


def read_shut(text: str) -> list[dict[str, str]] | None:
    """Return no time spans if a place closes at the start of the day."""
    return [] if read_time(text) == "00:00" else None


NORMALISERS.add("days", read_days)
NORMALISERS.add("hours", read_hours)
NORMALISERS.add("time", read_time)
NORMALISERS.add("shut", read_shut)
NORMALISERS.add("moment", read_moment)
