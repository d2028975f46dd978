"""Checks the output of third-party parsers against the protocol.

Built-in parsers are tested instead. A third-party parser may return anything; invalid output is its
failure and only costs its own records. Its records carry its name and version, even if it delegated
to another parser. `validation` checks whether the page proves the fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import islice

from messor.content.evidence import Evidence, EvidencedField
from messor.content.records import Record
from messor.parsers.builtin import AmazonParser, ProductParser, StatementParser
from messor.parsers.protocol import Parser

_OURS = frozenset((AmazonParser, ProductParser, StatementParser))


class NoAnswerError(TypeError):
    """A parser returned something other than a list of records."""


def is_ours(parser: Parser) -> bool:
    """Whether a parser is built in; a subclass of a built-in one is not."""
    return type(parser) in _OURS


def protocol_error(parser: Parser) -> str | None:
    """Return how a parser violates the protocol, None if it does not."""
    for part in ("name", "version"):
        value = getattr(parser, part)
        if not isinstance(value, str) or not value or "=" in value or not value.isprintable():
            return f"its {part} has to be a text without '=', not {value!r}"
    kinds: object = parser.kinds
    if not isinstance(kinds, AbstractSet) or not kinds:
        return f"its kinds have to be a set of names, not {kinds!r}"
    if not all(isinstance(kind, str) for kind in kinds):
        return f"its kinds have to be names, not {set(kinds)!r}"
    return None


def checked_records(parser: Parser, answer: object, limit: int) -> list[Record]:
    """Return at most `limit` checked records; raises NoAnswerError if the output is invalid."""
    if not isinstance(answer, Iterable) or isinstance(answer, str | bytes | Mapping):
        raise NoAnswerError(f"it answered {_described(answer)}, not a list of records")
    return [_checked(parser, each) for each in islice(answer, limit)]


def _checked(parser: Parser, record: object) -> Record:
    if not isinstance(record, Record):
        raise NoAnswerError(f"it answered {_described(record)} among its records")
    kind: object = record.kind
    fields: object = record.fields
    if not isinstance(kind, str) or not isinstance(fields, Mapping):
        raise NoAnswerError("a record has to have a kind and fields")
    _check_confidence(record.confidence)
    for name, field in fields.items():
        if not isinstance(field, EvidencedField) or not _is_evidence(field.evidence):
            raise NoAnswerError(
                f"its {kind}.{name} is {_described(field)}, not a field with evidence"
            )
        _check_confidence(field.confidence)
    return replace(record, parser=parser.name, parser_version=parser.version)


def _is_evidence(thing: object) -> bool:
    if not isinstance(thing, Evidence):
        return False
    return all(isinstance(part, str) for part in (thing.method, thing.quote, thing.path))


def _check_confidence(confidence: object) -> None:
    if not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        raise NoAnswerError(f"a confidence lies between 0 and 1, which {confidence!r} does not")


def _described(thing: object) -> str:
    return "nothing" if thing is None else f"a {type(thing).__name__}"
