"""Parser registry: parsers by name and version, and their order of precedence on a page.

Third-party packages register parsers as entry points of the group `messor.parsers`; each names a
parser, or a class or function that creates one, and takes precedence over built-in ones. Versions
may be pinned, also per domain; otherwise the newest version reads. A candidate version ("2rc1",
"3-candidate") only reads when it is pinned.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from messor.errors import UsageError
from messor.parsers.builtin import BUILTIN
from messor.parsers.output_check import is_ours, protocol_error
from messor.parsers.protocol import Parser

GROUP = "messor.parsers"

# Pinned version by parser name.
Pins = Mapping[str, str]

_MAX_CHOICES = 256  # cached; one per combination of pins

_PARTS = ("name", "version", "kinds", "is_generic", "accepts", "parse")  # members of the protocol
_NUMBERS = re.compile(r"\d+")
_CANDIDATE = re.compile(r"rc|alpha|beta|dev|candidate", re.IGNORECASE)


class UnknownParserError(UsageError):
    """A parser, or parser version, that is not installed."""

    code = "unknown_parser"


class Parsers:
    """All available parsers, site-specific ones first."""

    def __init__(self, parsers: Iterable[Parser] = BUILTIN) -> None:
        self._known: dict[tuple[str, str], Parser] = {}
        self._chosen: dict[tuple[frozenset[tuple[str, str]], bool], list[Parser]] = {}
        for parser in parsers:
            self.add(parser)

    @classmethod
    def installed(cls) -> Parsers:
        """Return the built-in parsers and those of installed packages."""
        parsers = cls()
        for entry in entry_points(group=GROUP):
            parsers.add(_loaded(entry))
        return parsers

    def add(self, parser: Parser) -> None:
        """Register a parser; name and version must be unique."""
        self._chosen.clear()
        if (wrong := protocol_error(parser)) is not None:
            raise UsageError(f"{type(parser).__qualname__} is not a parser: {wrong}.")
        key = parser.name, parser.version
        other = self._known.setdefault(key, parser)
        if other is not parser:
            places = " and ".join(sorted({type(one).__module__ for one in (other, parser)}))
            raise UsageError(
                f"There are two parsers called {parser.name} {parser.version} (in {places})."
            )

    def __iter__(self) -> Iterator[Parser]:
        return iter(sorted(self._known.values(), key=_place))

    def get(self, name: str, version: str | None = None) -> Parser:
        """Return a parser by name, the newest version by default."""
        versions = [parser for parser in self._known.values() if parser.name == name]
        if not versions:
            names = ", ".join(sorted({parser.name for parser in self._known.values()}))
            raise UnknownParserError(f"There is no parser called {name!r}; available: {names}.")
        if version is None:
            settled = [parser for parser in versions if not is_candidate(parser.version)]
            return max(settled or versions, key=_age)
        for parser in versions:
            if parser.version == version:
                return parser
        have = ", ".join(parser.version for parser in sorted(versions, key=_age))
        raise UnknownParserError(f"There is no version {version!r} of {name}; available: {have}.")

    def chosen(self, *, pins: Pins | None = None, generic: bool = False) -> list[Parser]:
        """Return one version of each parser, in order of precedence."""
        key = frozenset((pins or {}).items()), generic
        if key not in self._chosen:
            if len(self._chosen) >= _MAX_CHOICES:
                self._chosen.clear()
            self._chosen[key] = self._choose(pins or {}, generic=generic)
        return self._chosen[key]

    def _choose(self, pins: Pins, *, generic: bool) -> list[Parser]:
        names = dict.fromkeys(parser.name for parser in self)
        settled = {parser.name for parser in self if not is_candidate(parser.version)}
        chosen = [self.get(name, pins.get(name)) for name in names if name in settled | pins.keys()]
        return [parser for parser in chosen if parser.is_generic or not generic]


def is_candidate(version: str) -> bool:
    """Whether a version is a candidate."""
    return _CANDIDATE.search(version) is not None


def _place(parser: Parser) -> tuple[bool, bool, bool, str, list[int]]:
    """Sort key: site-specific first, third-party before built-in, products before other kinds,
    newest first.
    """
    age = [-number for number in _age(parser)[0]]
    makes_none = "product" not in parser.kinds
    return parser.is_generic, is_ours(parser), makes_none, parser.name, age


def _age(parser: Parser) -> tuple[list[int], str]:
    return [int(number) for number in _NUMBERS.findall(parser.version)[:8]], parser.version


def _loaded(entry: EntryPoint) -> Parser:
    """Load the parser of an entry point; errors name it."""
    try:
        found: Any = entry.load()
        parser = found if isinstance(found, Parser) and not isinstance(found, type) else found()
    except (Exception, SystemExit) as error:
        raise UsageError(
            f"The parser {entry.name} ({entry.value}) cannot be loaded: {error}"
        ) from error
    if not isinstance(parser, Parser):
        lacks = [part for part in _PARTS if not hasattr(parser, part)]
        raise UsageError(f"{entry.value} is not a parser: it has no {' and no '.join(lacks)}.")
    return parser
