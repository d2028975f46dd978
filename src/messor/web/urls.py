"""URLs: parsing as browsers do (WHATWG), a canonical form, and the hash that identifies a page.

The canonical form only serves de-duplication: what is fetched is always `Url.href`. It is
conservative, because a false merge loses a page and a duplicate only costs a request. Scope and
traps are decided elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

import ada_url

from messor.web.canonical import canonical_path, canonical_query

MAX_URL_LENGTH = 4096

_REMEMBERED = 1_024  # last parsed URLs
# Where the first slash of a path can be, given that host names have at most 255 characters.
_SHORTEST, _LONGEST = len("http://a"), len("https://") + 256
_DEFAULT_PORTS = {"http": 80, "https": 443}

# A path that the standard and the canonical form both leave unchanged.
_SELF = re.compile(r"(?:/(?!\.)[A-Za-z0-9._~!$&'*,:=@-]+)+/?")

# A URL that is its own serialisation, as nearly all are: a name that is neither a number nor
# punycode, no port, no segment that may stand for dots, and no character that would be escaped.
_PLAIN = re.compile(
    r"(https?)://((?:(?!xn--)[a-z0-9-]+\.)+[a-z]+)"
    r"((?:/(?!\.|%2[Ee])[A-Za-z0-9._~!$&()*+,;=:@%-]*)+)"
    r"(?:\?([A-Za-z0-9._~!$&()*+,;=:@%/?-]+))?"
)


class Url(NamedTuple):
    """One http(s) URL, without fragment and credentials; every part is ASCII."""

    href: str
    scheme: str
    host: str  # IPv6 literals keep their brackets
    port: int  # the effective port, default or not
    authority: str  # host, with ":port" where it is not the scheme's default
    path: str
    query: str  # without "?"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.authority}"

    @property
    def target(self) -> str:
        """Path and query, as a request line and robots rules see them."""
        return f"{self.path}?{self.query}" if self.query else self.path


def resolve(text: str, base: str | None = None) -> str | None:
    """The WHATWG serialisation of `text` against `base`, of any scheme; None when it fails."""
    try:
        href: str = ada_url.join_url(base, text) if base else ada_url.URL(text).href
    except ValueError:
        # Both invalid URLs and lone surrogates fail here; the standard replaces the latter.
        clean, clean_base = _without_surrogates(text), base and _without_surrogates(base)
        if (clean, clean_base) == (text, base):
            return None
        return resolve(clean, clean_base)
    return href


def scheme_of(href: str) -> str:
    """The scheme of a serialised web URL."""
    return "https" if href.startswith("https:") else "http"


def http_twin(href: str) -> Url | None:
    """An https URL rewritten to http on the same host and port; None where there is no such URL."""
    url = parse(href)
    if url is None or url.scheme != "https":
        return None
    twin = parse(f"http{url.href[5:]}")
    return twin if twin is not None and twin.authority == url.authority else None


def host_of(authority: str) -> str:
    """The host of an authority, without its port."""
    name, colon, port = authority.rpartition(":")
    return name if colon and port.isdigit() else authority


def parse(text: str, base: str | None = None) -> Url | None:
    """An http(s) URL of at most MAX_URL_LENGTH characters, or None."""
    return None if len(text) > MAX_URL_LENGTH else _parsed(text, base)


# A URL is parsed when it is decided on, fetched and read.
@lru_cache(maxsize=_REMEMBERED)
def _parsed(text: str, base: str | None) -> Url | None:
    plain = _PLAIN.fullmatch(text)
    if plain is not None:
        scheme, host, path, query = plain.groups("")
        return Url(text, scheme, host, _DEFAULT_PORTS[scheme], host, path, query)
    href = resolve(text, base)
    return None if href is None or len(href) > MAX_URL_LENGTH else _split(href)


def parse_shared(text: str, base: str) -> Url | None:
    """The same, cached: for URLs that many pages of a site contain, such as its icon."""
    found = None
    if text[:1] == "/" and text[1:2] != "/" and len(text) <= MAX_URL_LENGTH:
        end = base.find("/", _SHORTEST, _LONGEST)
        found = _under(base[:end], text) if end > 0 else None
    return parse(text, base) if found is None else found


def address(text: str, base: str) -> str | None:
    """A URL written in a page, as an absolute URL."""
    if len(text) <= MAX_URL_LENGTH and _PLAIN.fullmatch(text):
        return text
    found = parse_shared(text, base)
    return found.href if found else None


@lru_cache(maxsize=_REMEMBERED)
def _under(origin: str, path: str) -> Url | None:
    """Join a plain path to an origin; None where either is anything else."""
    address = origin + path
    return parse(address) if _PLAIN.fullmatch(address) else None


def _split(href: str) -> Url | None:
    """Split a serialised URL into its parts; serialisation leaves no ambiguity."""
    scheme, _, rest = href.partition("://")
    default_port = _DEFAULT_PORTS.get(scheme)
    if default_port is None:
        return None
    rest = rest.partition("#")[0]
    authority, _, tail = rest.partition("/")
    authority = authority.rpartition("@")[2]
    path, _, query = tail.partition("?")
    host, port = authority, default_port
    if not authority.endswith("]"):
        name, colon, number = authority.rpartition(":")
        if colon:
            host, port = name, int(number)
    path = f"/{path}"
    href = _assemble(scheme, authority, path, query)
    return Url(href, scheme, host, port, authority, path, query)


def _without_surrogates(text: str) -> str:
    """Lone surrogates become U+FFFD, as in the standard's UTF-8 encoder."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def canonical(url: Url | str) -> str:
    """The form that equal pages share; a string that is not a web URL represents itself."""
    if isinstance(url, str):
        parsed = parse(url)
        if parsed is None:
            return url
        url = parsed
    authority = url.authority
    # One trailing dot marks a fully qualified name; more make it another, if odd, host.
    if url.host.endswith(".") and url.host[-2:] not in (".", ".."):
        authority = url.host[:-1] + authority[len(url.host) :]
    path = canonical_path(url.path)
    query = canonical_query(url.query) if url.query else ""
    return _assemble(url.scheme, authority, path, query)


def _assemble(scheme: str, authority: str, path: str, query: str) -> str:
    return f"{scheme}://{authority}{path}?{query}" if query else f"{scheme}://{authority}{path}"


def url_hash(url: Url | str) -> bytes:
    """SHA-256 of the canonical form: the key of a page."""
    return sha256(canonical(url).encode("utf-8", "surrogatepass")).digest()


class Link(NamedTuple):
    """A link's target: shared between pages, so it never changes."""

    href: str
    authority: str
    url_hash: bytes
    nofollow: bool = False

    def as_nofollow(self) -> Link:
        return self if self.nofollow else self._replace(nofollow=True)


_Table = dict[str, Link | None]
_OTHER_SCHEMES = ("javascript:", "mailto:", "tel:", "data:", "sms:", "whatsapp:", "blob:")
_CACHED_HREF_LENGTH = 512


class LinkCache:
    """Resolved hrefs, grouped by what they depend on; the least recently used group is evicted
    first.

    The limit holds within an eighth: counting on every insertion would cost more than it saves.
    """

    def __init__(self, max_entries: int = 100_000) -> None:
        self._max_entries = max_entries
        self._tables: dict[str, _Table] = {}
        self._added = 0

    def __len__(self) -> int:
        return sum(map(len, self._tables.values()))

    def table(self, key: str) -> _Table:
        table = self._tables.pop(key, None)
        if table is None:
            table = {}
        self._tables[key] = table
        return table

    def note_added(self, count: int) -> None:
        # A group costs about as much as an entry, even while it is empty.
        self._added += count + 1
        if self._added * 8 < self._max_entries:
            return
        self._added = 0
        total = len(self) + len(self._tables)
        while total > self._max_entries and self._tables:
            total -= len(self._tables.pop(next(iter(self._tables)))) + 1


class LinkResolver:
    """Resolves the hrefs of one page, with a cache shared by the pages of its site.

    An absolute href depends on nothing, one that starts with a slash on the origin, a plain
    relative one on the base's folder, a query on its path; odd forms are not cached.
    """

    def __init__(self, base: str | Url, cache: LinkCache | None = None) -> None:
        self._cache = LinkCache() if cache is None else cache
        parsed = base if isinstance(base, Url) else parse(base)
        # A base that is not a web URL shares nothing but absolute hrefs, which it must not spoil.
        self._base = parsed.href if parsed else resolve(str(base))
        self._origin = parsed.origin if parsed else f" {base} "
        self._page = self._origin + parsed.path if parsed else f" {base}/"
        # Under a well-formed host, a plain path makes a URL that is its own canonical form.
        is_plain = parsed is not None and not parsed.host.endswith(".")
        self._host = parsed.authority if parsed is not None and is_plain else None

    def rebase(self, base: str) -> LinkResolver:
        """The same cache under another base, for pages that declare one."""
        return LinkResolver(base, self._cache)

    def resolve(self, hrefs: Iterable[str]) -> list[Link | None]:
        """One result per href, in order; None for what is not a web URL or only a fragment."""
        absolute, rooted = self._cache.table(""), self._cache.table(self._origin)
        relative = self._cache.table(self._page.rpartition("/")[0] + "/")
        queried = self._cache.table(self._page + "?")
        found: list[Link | None] = []
        added = 0
        for href in hrefs:
            first = href[:1]
            if first == "/":
                table = rooted
            elif href.startswith(("http://", "https://")):
                table = absolute
            elif first == "?":
                table = queried
            elif first > " " and first != "#" and ":" not in href:
                table = relative
            else:
                found.append(self._resolve_odd(href))
                continue
            try:
                found.append(table[href])
            except KeyError:
                link = self._link(href)
                found.append(link)
                if len(href) <= _CACHED_HREF_LENGTH:
                    table[href] = link
                    added += 1
        self._cache.note_added(added)
        return found

    def _resolve_odd(self, href: str) -> Link | None:
        if not href or href.startswith("#") or href.startswith(_OTHER_SCHEMES):
            return None
        return self._link(href)

    def _link(self, href: str) -> Link | None:
        if self._host is not None and _SELF.fullmatch(href):
            text = self._origin + href
            if len(text) <= MAX_URL_LENGTH:
                return Link(text, self._host, sha256(text.encode()).digest())
        if href[:1] == "/" and href[1:2] != "/" and _PLAIN.fullmatch(self._origin + href):
            url = parse(self._origin + href)
        else:
            url = parse(href, self._base)
        return None if url is None else Link(url.href, url.authority, url_hash(url))
