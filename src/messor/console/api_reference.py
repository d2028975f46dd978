"""The API's description as the reference shows it: operations by subject, with fields and examples."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import quote

from messor.errors import NotFoundError

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DocumentedField:
    """A parameter, or a field of a body or an answer."""

    name: str
    type: str
    required: bool
    about: str
    example: str = ""
    place: str = ""  # of a parameter: path, query or header


@dataclass(frozen=True, slots=True)
class ApiOperation:
    """One operation of the API."""

    name: str
    method: str
    path: str
    subject: str
    summary: str
    about: str
    act: str  # the permission it needs, or public
    parameters: tuple[DocumentedField, ...]
    body: tuple[DocumentedField, ...]
    body_example: str
    answers: tuple[tuple[str, str], ...]  # status and description
    answer: tuple[DocumentedField, ...]
    answer_example: str

    @property
    def sample_path(self) -> str:
        """The path with the examples of its parameters."""
        path = self.path
        for each in self.parameters:
            if each.place == "path":
                path = path.replace(f"{{{each.name}}}", quote(each.example, safe=""))
        needed = [each for each in self.parameters if each.place == "query" and each.required]
        query = "&".join(f"{each.name}={quote(each.example, safe='')}" for each in needed)
        return f"{path}?{query}" if query else path

    def matches(self, typed: str) -> bool:
        """Whether every word typed is found in its name, path or description."""
        own = f"{self.name} {self.method} {self.path} {self.about} {self.subject}".casefold()
        return all(word in own for word in typed.casefold().split())


class ApiReference:
    """The operations of a document; it is read when it is first needed."""

    def __init__(self, document: Callable[[], Json]) -> None:
        self._read = document

    @cached_property
    def _document(self) -> Json:
        return self._read()

    @cached_property
    def operations(self) -> dict[str, ApiOperation]:
        """All operations by name, in their order."""
        found = [
            self._operation(path, method, each)
            for path, methods in self._document["paths"].items()
            for method, each in methods.items()
        ]
        return {each.name: each for each in found}

    def find(self, name: str) -> ApiOperation:
        """The operation of a name."""
        if name not in self.operations:
            raise NotFoundError("The API has no such operation.")
        return self.operations[name]

    def by_subject(self, typed: str = "") -> dict[str, list[ApiOperation]]:
        """Operations that match, by their subject."""
        found: dict[str, list[ApiOperation]] = {}
        for each in self.operations.values():
            if each.matches(typed):
                found.setdefault(each.subject, []).append(each)
        return found

    def _operation(self, path: str, method: str, shape: Json) -> ApiOperation:
        body = _first(shape.get("requestBody", {}).get("content", {}).values())
        good = [one for status, one in shape["responses"].items() if status.startswith("2")]
        answer = _first(good[0].get("content", {}).values()) if good else {}
        return ApiOperation(
            name=shape["operationId"],
            method=method.upper(),
            path=path,
            subject=_first(shape.get("tags", ())) or "other",
            summary=shape["summary"],
            about=shape["description"],
            act=shape.get("x-messor-act", "public"),
            parameters=tuple(self._parameter(each) for each in shape.get("parameters", ())),
            body=self._fields(body.get("schema", {})),
            body_example=_shown(body.get("example")),
            answers=tuple(
                (status, one["description"]) for status, one in shape["responses"].items()
            ),
            answer=self._fields(answer.get("schema", {})),
            answer_example=_shown(answer.get("example")),
        )

    def _parameter(self, shape: Json) -> DocumentedField:
        example = shape.get("example")
        text = json.dumps(example) if isinstance(example, bool | None) else str(example)
        return DocumentedField(
            name=shape["name"],
            type=self._type(shape["schema"]),
            required=bool(shape.get("required")),
            about=shape.get("description", ""),
            example=", ".join(map(str, example)) if isinstance(example, list) else text,
            place=shape["in"],
        )

    def _fields(self, schema: Json) -> tuple[DocumentedField, ...]:
        """The fields of an object; of a choice of objects none, its example has to do."""
        schema = self._resolved(schema)
        required = schema.get("required", ())
        return tuple(
            DocumentedField(name, self._type(one), name in required, one.get("description", ""))
            for name, one in schema.get("properties", {}).items()
        )

    def _resolved(self, schema: Json) -> Json:
        reference = schema.get("$ref")
        if reference is None:
            return schema
        found: Json = self._document["components"]["schemas"][reference.rpartition("/")[2]]
        return found

    def _type(self, schema: Json) -> str:
        """A type in words, with the values of an enumeration."""
        if options := schema.get("anyOf") or schema.get("oneOf"):
            return " or ".join(dict.fromkeys(self._type(each) for each in options))
        resolved = self._resolved(schema)
        if "enum" in resolved:
            return ", ".join(map(str, resolved["enum"]))
        if resolved.get("type") == "array":
            return f"list of {self._type(resolved.get('items', {}))}"
        if "$ref" in schema and "properties" in resolved:
            return str(schema["$ref"].rpartition("/")[2])
        return str(resolved.get("format") or resolved.get("const") or resolved.get("type", "any"))


def _first(found: Iterable[Any]) -> Any:
    return next(iter(found), {})


def _shown(example: Any) -> str:
    return "" if example is None else json.dumps(example, indent=2, ensure_ascii=False)
