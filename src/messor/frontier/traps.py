"""Crawler traps: addresses without end that lead to nothing new.

`trap_of` refuses what no sound site links to, from the address alone. `pattern_key` names the
family of an address that is sound in small numbers (a calendar, a filtered list, a session);
whoever keeps the frontier counts the pages of each host and family and stops at PATTERN_BUDGET.
Parameters that `web.canonical` drops multiply no pages and are no matter here.
"""

from __future__ import annotations

import re
from collections import Counter
from hashlib import blake2b

from messor.frontier.parameters import ParameterRole, role
from messor.web.canonical import canonical_query

# 160 pages show more than 13 years of months, or a list of thousands of entries; a family
# that has more is not worth its host's time, and its entries are found on other ways as well.
# A trap has doors that are of no family (each filter by itself): with them it takes about 200.
PATTERN_BUDGET = 160
MAX_PATTERN_LENGTH = 200

MAX_LENGTH = 2083  # what browsers took for decades; sound sites keep within
MAX_SEGMENTS = 20
MAX_PARAMETERS = 12  # large shops link sound pages with up to a dozen
_MAX_SAME_PARAMETER = 3
_MAX_REPETITIONS = 2
_DEEP = 7  # slashes of an address with five segments, or four that end in a slash
_MAX_NAMES = 4  # more do not name a page, they describe what to show
_FIRST_YEAR = 1990  # pages about the web's own time; older dates are paged to, not published
_YEARS_AHEAD = 3

# A group of segments three times in a row: a relative link that lacks its first slash.
_CYCLE = re.compile(r"/((?:[^/]+/){1,8}?)\1{2,}")
# Queries within queries, however often they were escaped.
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
# The address ends at the date, or at a way to look at it. What follows a date otherwise is the
# name of an article, and articles are content.
_ENDING = (
    r"(?:/(?:day|week|month|year|list|agenda|view|map|photo|summary|ical|today|rss|feed"
    r"|page/\d+)){0,2}/?(?:\.[a-z]{3,5}|index\.[a-z]{3,5})?$"
)
_CALENDAR = re.compile(
    f"/{_DATE.replace('YEAR', '(?:1[89]|2[01])[0-9]{2}')}{_ENDING}", re.IGNORECASE
)
# Where a word says that it is a calendar, any four digits are a year.
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
# Filters written into the path: "/filter/…", "/sort-by-price", "/color=red/size=xl"; but not
# "/item/id=5", nor the end of a base64 name.
_PATH_FILTER = re.compile(
    r"/(?:filters?|facets?|refine|sort(?:-?by)?|order-?by)(?=[/=:_-])|/(?!\w*id=)[a-z][\w%-]{1,30}=[^/=]",
    re.IGNORECASE,
)
# The one look that most addresses cost: where none of these is, no family is, and no date, which
# has four or eight digits together. Each branch begins with a literal: the engine then skips to
# where one of them stands.
_WORD = r"(?i:page|s[ei]|pagin|str|filter|facet|refin|sort|order)"
_YEAR = r"(?:19|20)[0-9]{2}(?:[0-9]{4})?(?![0-9])"
_MARK = re.compile(rf"\?|;|=|/(?:[0-9]{{4}}(?![0-9])|{_WORD}|{_YEAR})|_{_YEAR}|\.{_YEAR}|-{_YEAR}")


def is_plain(href: str) -> bool:
    """Whether an address can be neither trap nor one of a family; False says nothing."""
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
    """Why an address must be a trap, in one sentence, seen from the given year; None if not."""
    if len(href) > MAX_LENGTH:
        return f"the address has {len(href)} characters, more than {MAX_LENGTH}"
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
    """Path, mark and query of a serialised address."""
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
    return f"words come back {times} times in the path" if times > _MAX_REPETITIONS else None


def _repetitions(segments: list[str]) -> int:
    """How often words come back in a path; numbers and letters may, they place things."""
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
        return "the query holds addresses within addresses"
    return None


def _far_date(href: str, path: str, query: str, year: int) -> str | None:
    """A calendar turned to where nothing can be. Archives of old or odd numbers may stand."""
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
        return f"a calendar turned back to {shown}, before {_FIRST_YEAR}"
    return f"a calendar turned to {shown}, more than {_YEARS_AHEAD} years ahead"


def pattern_key(href: str) -> str | None:
    """The family an address belongs to if such families can be endless; None for most.

    Numbers and names in paths are content, however many: a shop of 50,000 products at
    "/product/…" is no trap.
    """
    deep = href.count("/") >= _DEEP
    if not deep and _MARK.search(href, 8) is None:
        return None
    path, mark, query = _cut(href)
    # One word twice is common ("/shop/shop/chair"). Two are of a family of the whole host: with
    # a few wrong relative links on each page such paths multiply before they are long.
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
    """Families that show in the path.

    A session is of the whole host, whatever page it hangs on; a calendar is of its first two
    segments, since it multiplies by every category; a list is of its own path.
    """
    found = _CALENDAR.search(path)
    if found:
        return f"calendar {'/'.join(path[: found.start()].split('/')[:3])}/"
    if _PATH_SESSION.search(path):
        return "session"
    found = _PATH_LIST.search(path)
    return f"list {path[: found.start()]}/" if found else None


def _query_family(path: str, query: str, *, varied: bool) -> str | None:
    """Families that show in the query.

    An action (share, reply, return to …) exists for every page, and so may a session whose
    name nobody knows: they count for the whole host. Variants of one page (sorted, filtered, faceted, searched) count by page, whatever
    subset of parameters they use: otherwise every subset would be a family. Two parameters
    that name nothing make a variant; one alone has as many values as the site has links for.
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
