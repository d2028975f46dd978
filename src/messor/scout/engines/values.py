"""Reads untrusted responses: each value is used only if it has the expected type."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from messor.scout.engines.model import RawAnswer, SearchFaultError, SerpBlock, SerpResult
from messor.web.urls import parse as parse_url

MAX_RESULTS = 1_000  # of one kind on one page
MAX_TEXT = 4_000
_DATES = ("%b %d, %Y", "%d %b %Y", "%B %d, %Y", "%Y-%m-%d %H:%M:%S %z", "%Y-%m-%d")


def table_of(title: str, raw: RawAnswer) -> dict[str, Any]:
    """The JSON object of a response; a charged fault if it is none."""
    try:
        value = _decoded(raw.body)
    except (ValueError, RecursionError) as error:
        raise SearchFaultError(f"The response of {title} is not JSON.", charged=True) from error
    if not isinstance(value, dict):
        raise SearchFaultError(f"The response of {title} does not match its API.", charged=True)
    return value


def _decoded(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except msgspec.DecodeError:
        return json.loads(body)  # accepts half of a surrogate pair, which JavaScript writes


def rows(value: Any, key: str = "") -> Iterator[Mapping[str, Any]]:
    """The objects of a list, possibly below a key; anything else is skipped."""
    if key:
        value = value.get(key) if isinstance(value, Mapping) else None
    if isinstance(value, list):
        yield from (row for row in value[:MAX_RESULTS] if isinstance(row, Mapping))


def text(row: Mapping[str, Any], *keys: str) -> str:
    """The first of some keys with text, bounded, without NULs and lone surrogates."""
    for key in keys:
        value = row.get(key)
        if isinstance(value, str) and value.strip():
            clean = value.replace("\x00", "").strip()[:MAX_TEXT]
            return clean.encode("utf-8", "replace").decode()
    return ""


def address(row: Mapping[str, Any], *keys: str) -> str | None:
    """The first of some keys with a web address, as browsers write it."""
    for key in keys:
        value = row.get(key)
        if isinstance(value, str) and (url := parse_url(value.strip())) is not None:
            return url.href
    return None


def date(row: Mapping[str, Any], *keys: str) -> datetime | None:
    """A date in one of the formats engines use; None for anything else, such as "2 days ago"."""
    for key in keys:
        value = row.get(key)
        if isinstance(value, str) and (found := _moment(value.strip()[:40])) is not None:
            return found
    return None


def _moment(value: str) -> datetime | None:
    for read in (datetime.fromisoformat, *(_by(form) for form in _DATES)):
        try:
            found = read(value)
        except ValueError:
            continue
        found = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
        return found if 1990 <= found.year <= 2200 else None
    return None


def _by(form: str) -> Callable[[str], datetime]:
    def read(value: str) -> datetime:
        return datetime.strptime(value, form).replace(tzinfo=UTC)

    return read


def results(
    block: SerpBlock,
    found: Iterable[Mapping[str, Any]],
    *,
    url: tuple[str, ...] = ("link", "url"),
    title: tuple[str, ...] = ("title",),
    snippet: tuple[str, ...] = ("snippet", "description"),
    published: tuple[str, ...] = ("date",),
    rank: str | None = None,
    needs_url: bool = True,
) -> list[SerpResult]:
    """Entries of one block, in order; those without a required URL are skipped.

    Ranks are the engine's where they are valid and rising, else the next number.
    """
    made: list[SerpResult] = []
    last = 0
    for row in found:
        href = address(row, *url)
        if href is None and (needs_url or not text(row, *title)):
            continue
        given = row.get(rank) if rank else None
        is_sound = isinstance(given, int) and not isinstance(given, bool) and last < given < 10_000
        last = given if is_sound and isinstance(given, int) else last + 1
        made.append(
            SerpResult(
                block, last, href, text(row, *title), text(row, *snippet), date(row, *published)
            )
        )
    return made


def phrases(block: SerpBlock, words: Iterable[Any]) -> list[SerpResult]:
    """A block of bare phrases, such as suggestions."""
    texts = (word for word in words if isinstance(word, str) and word.strip())
    found = ({"title": word} for word in texts)
    return results(block, found, needs_url=False)
