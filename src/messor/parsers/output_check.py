"""What parsers of others answer, held to the protocol before anybody believes it.

Ours keep to it by their making and by their tests. A parser of another package may answer anything;
an answer that is none is its failure, and costs its own records alone. What it answers goes by its
name and version, also where it had another parser read for it. Whether fields are proven by their
page is left to `validation`.
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
    """What a parser answered is no list of records."""


def is_ours(parser: Parser) -> bool:
    """Whether a parser came with Messor; one that is made of ours did not."""
    return type(parser) in _OURS


def protocol_error(parser: Parser) -> str | None:
    """What of a parser is not as the protocol has it, None when all is well."""
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
    """The records of an answer, at most so many; NoAnswerError says what is wrong with it."""
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
