"""Crawler traps: endless URLs that lead to nothing new.

`trap_of` recognises URLs that no sound site links to, from the URL alone. `pattern_key` names the
pattern of a URL that is sound in small numbers (a calendar, a filtered list, a session); the
frontier counts the pages per host and pattern and stops at PATTERN_BUDGET. Parameters that
`web.canonical` drops create no pages and are not considered.
"""

from __future__ import annotations

import re
from collections import Counter
from hashlib import blake2b

from messor.frontier.parameters import ParameterRole, role
from messor.web.canonical import canonical_query

# 160 pages cover more than 13 years of months, or a list of thousands of entries; a larger pattern
# is not worth its host's time, and its entries are found in other ways as well. A trap also has
# entry pages without a pattern (each single filter): with them it takes about 200.
PATTERN_BUDGET = 160
MAX_PATTERN_LENGTH = 200

MAX_LENGTH = 2083  # long the limit of browsers; sound sites stay below
MAX_SEGMENTS = 20
MAX_PARAMETERS = 12  # large shops link sound pages with up to a dozen
_MAX_SAME_PARAMETER = 3
_MAX_REPETITIONS = 2
_DEEP = 7  # slashes of a URL with five segments, or four with a final slash
_MAX_NAMES = 4  # more parameters describe a view rather than a page
_FIRST_YEAR = 1990  # the web's own time; older dates are reached by paging, not published
_YEARS_AHEAD = 3

# A group of segments three times in a row: a relative link without its leading slash.
_CYCLE = re.compile(r"/((?:[^/]+/){1,8}?)\1{2,}")
# Nested queries, however often they were escaped.
_NESTED_QUERY = re.compile(r"\?|%(?:25)*3f", re.IGNORECASE)
_MAX_NESTED_QUERIES = 3

_MONTH = (
    r"(?:0?[1-9]|1[0-2]|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}|w\d{1,2})"
)
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_DATE = (
    rf"(?:(?P<ymd>YEAR)(?P<cut>[/_.-]){_MONTH}(?:(?P=cut){_DAY})?"
    rf"|(?P<compact>(?:19|20)\d\d)(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])"
    rf"|(?:{_DAY}(?P<cut2>[/_.-]))?{_MONTH}[/_.-](?P<dmy>(?:19|20)\d\d))"
)
# The URL ends at the date, or at a view of it. Anything else after a date is the name of an
# article, and articles are content.
_ENDING = (
    r"(?:/(?:day|week|month|year|list|agenda|view|map|photo|summary|ical|today|rss|feed"
    r"|page/\d+)){0,2}/?(?:\.[a-z]{3,5}|index\.[a-z]{3,5})?$"
)
_CALENDAR = re.compile(
    f"/{_DATE.replace('YEAR', '(?:1[89]|2[01])[0-9]{2}')}{_ENDING}", re.IGNORECASE
)
# After a calendar word, any four digits are a year.
_ANY_CALENDAR = re.compile(f"/{_DATE.replace('YEAR', '[0-9]{4}')}{_ENDING}", re.IGNORECASE)
_DATED = re.compile(r"\d{4}[/_.-]|\d{4}/?$")
_CALENDAR_WORD = re.compile(
    r"(?<![a-z])(?:cal(?![a-z])|calend|kalend|event|evenement|evento|agenda|schedule|booking"
    r"|termin|veranst|diary|month|monat|date(?![a-z])|day=|year=|yr=|takvim|tapahtum)",
    re.IGNORECASE,
)
_YEAR_VALUE = re.compile(r"(?:year|yr|jahr|annee|anno|ano)=(\d{4})(?!\d)|=(\d{4})-\d\d?(?:-|&|$)")

_PATH_LIST = re.compile(
    r"/(?:page|seite|pagina|strona|sida|side|stranka)[/-]?\d+/?$", re.IGNORECASE
)
_PATH_SESSION = re.compile(
    r"[/;](?:sid|sess|session|sessid|session-?id)[=/:_-](?=[a-z-]*\d)[\w-]{16,}", re.IGNORECASE
)
# Filters in the path: "/filter/…", "/sort-by-price", "/color=red/size=xl"; but not "/item/id=5",
# nor the end of a base64 name.
_PATH_FILTER = re.compile(
    r"/(?:filters?|facets?|refine|sort(?:-?by)?|order-?by)(?=[/=:_-])|/(?!\w*id=)[a-z][\w%-]{1,30}=[^/=]",
    re.IGNORECASE,
)
# The only check that most URLs cost: without any of these there is no pattern, and no date, which
# has four or eight digits in a row. Each branch begins with a literal, so that the engine can skip
# to it.
_WORD = r"(?i:page|s[ei]|pagin|str|filter|facet|refin|sort|order)"
_YEAR = r"(?:19|20)[0-9]{2}(?:[0-9]{4})?(?![0-9])"
_MARK = re.compile(rf"\?|;|=|/(?:[0-9]{{4}}(?![0-9])|{_WORD}|{_YEAR})|_{_YEAR}|\.{_YEAR}|-{_YEAR}")


def is_plain(href: str) -> bool:
    """Whether a URL can be neither a trap nor part of a pattern; False is inconclusive."""
    if _MARK.search(href, 8) or len(href) > MAX_LENGTH:
        return False
    slashes = href.count("/")
    if slashes < _DEEP - 2:
        return True
    if slashes >= _DEEP:
        return False
    parts = href.split("/")
    return len(parts) - len(set(parts)) < 2


def trap_of(href: str, year: int) -> str | None:
    """Why a URL must be a trap as of the given year, in one sentence; None if it is not."""
    if len(href) > MAX_LENGTH:
        return f"the URL has {len(href)} characters, more than {MAX_LENGTH}"
    path, _, query = _cut(href)
    if path.count("/") > 2:
        reason = _trap_in_path(path)
        if reason:
            return reason
    if query:
        reason = _trap_in_query(query)
        if reason:
            return reason
    return _far_date(href, path, query, year)


def _cut(href: str) -> tuple[str, str, str]:
    """Path, separator and query of a serialised URL."""
    head, mark, query = href.partition("?")
    start = head.find("/", head.find("://") + 3)
    return (head[start:] if start > 0 else "/"), mark, query


def _trap_in_path(path: str) -> str | None:
    segments = [segment for segment in path.split("/") if segment]
    if len(segments) > MAX_SEGMENTS:
        return f"the path has {len(segments)} segments, more than {MAX_SEGMENTS}"
    if len(segments) - len(set(segments)) < 2:
        return None
    found = _CYCLE.search(f"/{'/'.join(segments)}/")
    if found and not found[1].replace("/", "").isdecimal():
        return f"the path repeats “{found[1].rstrip('/')}” three times in a row"
    times = _repetitions(segments)
    return f"the path repeats words {times} times" if times > _MAX_REPETITIONS else None


def _repetitions(segments: list[str]) -> int:
    """Number of repeated words in a path; numbers and single letters may repeat."""
    words = [word for word in segments if len(word) > 2 and not word.isdecimal()]
    return len(words) - len(set(words))


def _trap_in_query(query: str) -> str | None:
    parts = canonical_query(query).split("&")
    if len(parts) > _MAX_SAME_PARAMETER:
        if len(parts) > MAX_PARAMETERS:
            return f"the query has {len(parts)} parameters, more than {MAX_PARAMETERS}"
        name, times = Counter(part.partition("=")[0] for part in parts).most_common(1)[0]
        if times > _MAX_SAME_PARAMETER:
            return f"the query has “{name}” {times} times"
    if "%252525" in query or len(_NESTED_QUERY.findall(query)) > _MAX_NESTED_QUERIES:
        return "the query contains nested URLs"
    return None


def _far_date(href: str, path: str, query: str, year: int) -> str | None:
    """A calendar at an impossible date. Archives with old or odd numbers are accepted."""
    found = _ANY_CALENDAR.search(path) if _DATED.search(path) else None
    if found:
        shown = int(found["ymd"] or found["compact"] or found["dmy"])
    else:
        value = _YEAR_VALUE.search(query) if query else None
        if value is None:
            return None
        shown = int(value[1] or value[2])
    if _FIRST_YEAR <= shown <= year + _YEARS_AHEAD or _CALENDAR_WORD.search(href) is None:
        return None
    if shown < _FIRST_YEAR:
        return f"a calendar page for {shown}, before {_FIRST_YEAR}"
    return f"a calendar page for {shown}, more than {_YEARS_AHEAD} years ahead"


def pattern_key(href: str) -> str | None:
    """The pattern of a URL if such patterns can be endless; None for most.

    Numbers and names in paths are content, however many: a shop of 50,000 products at "/product/…"
    is not a trap.
    """
    deep = href.count("/") >= _DEEP
    if not deep and _MARK.search(href, 8) is None:
        return None
    path, mark, query = _cut(href)
    # One repeated word is common ("/shop/shop/chair"). Two form a host-wide pattern: with a few
    # wrong relative links per page such paths multiply before they are long.
    repetitive = deep and _repetitions(path.split("/")) > 1
    key = "repetition" if repetitive else _path_family(path)
    if key is None:
        filtered = _PATH_FILTER.search(path)
        if filtered:
            path = path[: filtered.start()] or "/"
        if mark or filtered:
            key = _query_family(path, canonical_query(query), varied=filtered is not None)
    return None if key is None else _bounded(key)


def _path_family(path: str) -> str | None:
    """Patterns in the path.

    A session counts for the whole host, whatever its page; a calendar for its first two segments,
    as it multiplies by every category; a list for its own path.
    """
    found = _CALENDAR.search(path)
    if found:
        return f"calendar {'/'.join(path[: found.start()].split('/')[:3])}/"
    if _PATH_SESSION.search(path):
        return "session"
    found = _PATH_LIST.search(path)
    return f"list {path[: found.start()]}/" if found else None


def _query_family(path: str, query: str, *, varied: bool) -> str | None:
    """Patterns in the query.

    An action (share, reply, return to …) exists for every page, and so may an unknown session
    parameter: they count for the whole host. Variants of one page (sorted, filtered, faceted,
    searched) count by page, whatever subset of parameters they use: otherwise every subset would
    be a pattern. Two parameters that identify nothing make a variant; one alone has only as many
    values as the site has links.
    """
    roles: dict[ParameterRole, list[str]] = {}
    for part in query.replace(";", "&").split("&") if query else ():
        name, _, value = part.partition("=")
        roles.setdefault(role(name, value, path), []).append(part)
    if ParameterRole.SESSION in roles:
        return "session"
    if ParameterRole.DATE in roles:
        return f"calendar {path}"
    for everywhere in (ParameterRole.ACTION, ParameterRole.CODE):
        if everywhere in roles:
            return f"{everywhere.value}s {roles[everywhere][0].partition('=')[0]}"
    others = roles.get(ParameterRole.OTHER, [])
    names = roles.get(ParameterRole.NAME, ())
    varied = varied or len(names) > _MAX_NAMES
    page = f"{path}?{'&'.join(names)}" if 0 < len(names) <= _MAX_NAMES else path
    if varied or ParameterRole.VARIANT in roles or len(others) > 1:
        return f"variants {page}"
    return f"list {'&'.join([page, *others])}" if ParameterRole.POSITION in roles else None


def _bounded(key: str) -> str:
    if len(key) <= MAX_PATTERN_LENGTH:
        return key
    tail = blake2b(key.encode(), digest_size=12).hexdigest()
    return f"{key[: MAX_PATTERN_LENGTH - len(tail) - 1]}~{tail}"
