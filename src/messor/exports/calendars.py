"""iCalendar files (RFC 5545) of records: events, deadlines of programs and opportunities, opening hours.

Records of other kinds, and those without a date, have no entry. Opening hours are in local time, as
pages state them, and repeat weekly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from messor.exports.columns import Column

FOLDED_AT = 75  # octets of a line
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
CODES = dict(zip(DAYS, ("MO", "TU", "WE", "TH", "FR", "SA", "SU"), strict=True))
ADDRESS = ("location", "street", "postal_code", "locality", "region", "country")

Lines = list[tuple[str, str]]
Row = Mapping[str, Any]


def write(source: Path, target: Path, _: str, __: tuple[Column, ...]) -> None:
    """A calendar with an entry for each record that has a date."""
    with source.open("rb") as rows, target.open("wb") as file:
        head = [("BEGIN", "VCALENDAR"), ("VERSION", "2.0"), ("PRODID", "-//Messor//Export//EN")]
        file.writelines(map(folded, head))
        for line in rows:
            for entry in entries(msgspec.json.decode(line)):
                file.writelines(map(folded, entry))
        file.write(folded(("END", "VCALENDAR")))


def entries(row: Row) -> Iterator[Lines]:
    """The calendar entries of a record."""
    data = row["data"]
    if row["kind"] == "event":
        yield from _event(row, data)
    elif row["kind"] in ("funding_program", "opportunity"):
        yield from _deadline(row, data)
    elif row["kind"] == "opening_hours":
        yield from _hours(row, data)


def _event(row: Row, data: Row) -> Iterator[Lines]:
    start = moment("DTSTART", data.get("start"))
    if start is None:
        return
    end = moment("DTEND", data.get("end"))
    is_same_type = end is not None and ("VALUE" in end[0]) == ("VALUE" in start[0])
    lines = [start]
    if end is not None and is_same_type and end[1] >= start[1]:
        # The end of an event that lasts days is the day after its last one.
        is_day = "VALUE" in end[0]
        lines.append(_next_day(end) if is_day else end)
    place = ", ".join(str(data[name]) for name in ADDRESS if data.get(name))
    yield _entry(row, "event", lines, str(data.get("name") or "Event"), location=place)


def _deadline(row: Row, data: Row) -> Iterator[Lines]:
    due = moment("DTSTART", data.get("deadline"))
    if due is not None:
        name = str(data.get("name") or data.get("title") or "")
        yield _entry(row, "deadline", [due], f"Deadline: {name}")


def _hours(row: Row, data: Row) -> Iterator[Lines]:
    days = [day for day in map(str.lower, data.get("days") or ()) if day in CODES]
    spans = data.get("hours") or [{"opens": data.get("opens"), "closes": data.get("closes")}]
    for number, span in enumerate(spans):
        opens, closes = _clock(span.get("opens")), _clock(span.get("closes"))
        if not days or opens is None or closes is None:
            continue
        first = _first(data.get("valid_from") or row["first_seen"], days)
        last = first + timedelta(days=1) if closes <= opens else first
        until = _until(data.get("valid_through"))
        rule = f"FREQ=WEEKLY;BYDAY={','.join(CODES[day] for day in days)}{until}"
        times = [("DTSTART", f"{first:%Y%m%d}T{opens}"), ("DTEND", f"{last:%Y%m%d}T{closes}")]
        yield _entry(row, f"hours-{number}", [*times, ("RRULE", rule)], f"Open: {row['domain']}")


def _entry(row: Row, part: str, times: Lines, title: str, location: str = "") -> Lines:
    stamp = datetime.fromisoformat(row["updated_at"]).astimezone(UTC)
    given = {"SUMMARY": title, "LOCATION": location, "DESCRIPTION": row["data"].get("description")}
    texts = [(name, escaped(str(text))) for name, text in given.items() if text]
    return [
        ("BEGIN", "VEVENT"),
        ("UID", f"record-{row['id']}-{part}@{row['domain']}"),
        ("DTSTAMP", f"{stamp:%Y%m%dT%H%M%SZ}"),
        *times,
        *texts,
        ("URL", row["url"]),
        ("END", "VEVENT"),
    ]


def moment(name: str, text: Any) -> tuple[str, str] | None:
    """A date or time as a property: with a zone in UTC, without one in local time."""
    try:
        if len(str(text)) == 10:
            return f"{name};VALUE=DATE", f"{date.fromisoformat(str(text)):%Y%m%d}"
        found = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    if found.tzinfo is None:
        return name, f"{found:%Y%m%dT%H%M%S}"
    return name, f"{found.astimezone(UTC):%Y%m%dT%H%M%SZ}"


def _next_day(end: tuple[str, str]) -> tuple[str, str]:
    day = datetime.strptime(end[1], "%Y%m%d").replace(tzinfo=UTC) + timedelta(days=1)
    return end[0], f"{day:%Y%m%d}"


def _clock(text: Any) -> str | None:
    digits = str(text or "").replace(":", "")
    return f"{digits:0<6}"[:6] if digits.isdecimal() and digits[:2] < "24" else None


def _first(text: str, days: list[str]) -> date:
    """The first day on or after a date that is one of the weekdays."""
    start = date.fromisoformat(str(text)[:10])
    ahead = min((DAYS.index(day) - start.weekday()) % 7 for day in days)
    return start + timedelta(days=ahead)


def _until(text: Any) -> str:
    try:
        return f";UNTIL={date.fromisoformat(str(text)[:10]):%Y%m%d}T235959" if text else ""
    except ValueError:
        return ""


def escaped(text: str) -> str:
    """A text value (RFC 5545 section 3.3.11), without control characters."""
    for sign in "\\;,":
        text = text.replace(sign, f"\\{sign}")
    kept = (sign for sign in text.replace("\r\n", "\n") if sign >= " " or sign in "\n\t")
    return "".join(kept).replace("\n", "\\n")


def folded(line: tuple[str, str]) -> bytes:
    """A content line, folded between characters so that no line is longer than 75 octets."""
    pieces, current = [], ""
    size = 0
    for sign in f"{line[0]}:{line[1]}".replace("\r", "").replace("\n", ""):
        width = len(sign.encode("utf-8", "replace"))
        if size + width > FOLDED_AT:
            pieces.append(current)
            current, size = " ", 1
        current += sign
        size += width
    return "\r\n".join([*pieces, current]).encode("utf-8", "replace") + b"\r\n"
