"""TDMRep: reservations of text and data mining, by header, meta element or a well-known file.

W3C Community Group report, 2024. A meta element counts before a header, a header before the file;
among the file's locations the longest match counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from messor.web.robots_rules import Pattern, normalise, robots_path
from messor.web.usage.statement import MAX_TEXT, Answer, Statement, Use

STANDARD = "TDMRep"
WELL_KNOWN = "/.well-known/tdmrep.json"
MAX_LOCATIONS = 10_000
_ANSWERS = {"1": Answer.NO, "0": Answer.YES}


def statement_of(value: str, place: str) -> Statement:
    """What a value of `tdm-reservation` states."""
    answer = _ANSWERS.get(value.strip(), Answer.UNKNOWN)
    return Statement(Use.TDM, answer, STANDARD, place, f"tdm-reservation: {value}"[:MAX_TEXT])


def of_well_known(body: bytes, url: str) -> Statement | None:
    """What the file at `WELL_KNOWN` states of a URL; None if it is silent."""
    try:
        entries = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _unknown("It is not JSON.")
    if not isinstance(entries, list):
        return _unknown("It is not a list of locations.")
    path = robots_path(url)
    matching = [
        (len(location), entry)
        for location, entry in _located(entries[:MAX_LOCATIONS])
        if _matches(location, path)
    ]
    if not matching:
        return None
    longest = max(length for length, _ in matching)
    found = [_reserved(entry) for length, entry in matching if length == longest]
    return next((one for one in found if one.answer is Answer.NO), found[0])


def _located(entries: list[Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for entry in entries:
        if isinstance(entry, dict) and isinstance(entry.get("location"), str):
            yield entry["location"], entry


def _matches(location: str, path: str) -> bool:
    text = location if location.startswith(("/", "*")) else f"/{location}"
    anchored = text.endswith("$")
    escaped = normalise((text[:-1] if anchored else text).encode().decode("latin-1"))
    return Pattern(escaped, len(escaped), None, anchored=anchored).matches(path)


def _reserved(entry: dict[str, Any]) -> Statement:
    value = entry.get("tdm-reservation")
    known = isinstance(value, int) and not isinstance(value, bool)
    answer = _ANSWERS.get(str(value), Answer.UNKNOWN) if known else Answer.UNKNOWN
    text = msgspec.json.encode(entry).decode()[:MAX_TEXT]
    return Statement(Use.TDM, answer, STANDARD, WELL_KNOWN, text)


def _unknown(text: str) -> Statement:
    return Statement(Use.TDM, Answer.UNKNOWN, STANDARD, WELL_KNOWN, text)
