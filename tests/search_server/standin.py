"""The stand-in: an HTTP server with indexes, aliases, external versions and failures on request.

Every response carries `X-Messor-Stand-In`, and its version says so: nobody takes it for the server
itself. What is written is found after a refresh, as there.
"""

from __future__ import annotations

import asyncio
import fnmatch
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import msgspec
from aiohttp import web

from tests.search_server.analysis import (
    WrongFieldError,
    WrongMappingError,
    checked,
    fields_of,
    words,
)
from tests.search_server.matching import Matcher, Stored, WrongQueryError

MAX_BODY = 20_000_000
MAX_ID_BYTES = 512
NAME = re.compile(r"[a-z0-9][a-z0-9_.-]*")


class RefusedError(Exception):
    """An error response in the server's own words."""

    def __init__(self, status: int, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.status, self.kind, self.reason = status, kind, reason

    @property
    def body(self) -> dict[str, Any]:
        cause = {"type": self.kind, "reason": self.reason}
        return {"error": {"root_cause": [cause], **cause}, "status": self.status}


@dataclass
class Index:
    mapping: dict[str, Any]
    settings: dict[str, Any]
    fields: dict[str, dict[str, Any]]
    written: dict[str, Stored] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)  # of what was deleted, too
    searchable: dict[str, Stored] = field(default_factory=dict)

    def refresh(self) -> None:
        self.searchable = dict(self.written)


class SearchStandIn:
    """A search server on loopback."""

    def __init__(self, authorization: str | None = None) -> None:
        self.authorization = authorization
        self.indexes: dict[str, Index] = {}
        self.aliases: dict[str, dict[str, dict[str, Any]]] = {}  # name, index, options
        self.asked: list[tuple[str, str]] = []
        self.failures: list[int] = []  # statuses of the next responses
        self.put_off = 0  # how many items of bulk requests to answer with 429
        self.bulks = 0
        self.max_bulk_bytes = MAX_BODY
        self.before: Callable[[str, str], None] | None = None  # called with each request
        self._runner: web.AppRunner | None = None
        self.url = ""

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=MAX_BODY)
        app.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        port = self._runner.addresses[0][1]
        self.url = f"http://127.0.0.1:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _serve(self, request: web.Request) -> web.Response:
        path = request.match_info["path"]
        self.asked.append((request.method, path))
        body = await request.read()
        try:
            self._admit(request)
            said = self._answer(request, path, body)
            await asyncio.sleep(0)
        except RefusedError as error:
            return self._response(error.body, error.status)
        return self._response(said, 200)

    def _response(self, value: Any, status: int) -> web.Response:
        headers = {"X-Messor-Stand-In": "search server", "X-Elastic-Product": "Elasticsearch"}
        return web.Response(
            body=msgspec.json.encode(value),
            status=status,
            headers=headers,
            content_type="application/json",
        )

    def _admit(self, request: web.Request) -> None:
        if (
            self.authorization is not None
            and request.headers.get("Authorization") != self.authorization
        ):
            raise RefusedError(401, "security_exception", "unable to authenticate user")
        if self.failures:
            status = self.failures.pop(0)
            raise RefusedError(status, "es_rejected_execution_exception", "rejected execution")

    def _answer(self, request: web.Request, path: str, body: bytes) -> Any:
        if self.before is not None:
            self.before(request.method, path)
        if path == "_bulk":
            return self._bulk(request.content_type, body)
        given = self._given(request.content_type, body)
        if path == "":
            return {"version": {"number": "0.0.0-stand-in", "distribution": "stand-in"}}
        if path == "_aliases":
            return self._move(given)
        if path.startswith("_alias/"):
            return self._holders(path.removeprefix("_alias/"))
        name, _, rest = path.partition("/")
        if rest == "_alias":
            matching = [one for one in self.indexes if fnmatch.fnmatch(one, name)]
            return {one: {"aliases": self._aliases_of(one)} for one in matching}
        if rest:
            return self._within(name, rest, given)
        return {"PUT": self._create, "GET": self._show, "DELETE": self._delete}[request.method](
            name, given
        )

    def _given(self, media: str, body: bytes) -> Any:
        if not body:
            return {}
        if media != "application/json":
            raise RefusedError(
                406, "media_type_header_exception", f"Content-Type [{media}] is not supported"
            )
        return msgspec.json.decode(body)

    def _create(self, name: str, given: dict[str, Any]) -> Any:
        if not NAME.fullmatch(name):
            raise RefusedError(400, "invalid_index_name_exception", f"Invalid index name [{name}]")
        if name in self.indexes:
            raise RefusedError(
                400, "resource_already_exists_exception", f"index [{name}] already exists"
            )
        if name in self.aliases:
            raise RefusedError(400, "invalid_index_name_exception", "already exists as alias")
        mapping = given.get("mappings", {})
        try:
            fields = fields_of(mapping)
        except WrongMappingError as error:
            raise RefusedError(400, "mapper_parsing_exception", str(error)) from error
        self.indexes[name] = Index(mapping, given.get("settings", {}).get("index", {}), fields)
        return {"acknowledged": True, "index": name}

    def _show(self, name: str, _: Any) -> Any:
        return {one: {"mappings": self.indexes[one].mapping} for one in self._named(name)}

    def _delete(self, name: str, _: Any) -> Any:
        if name not in self.indexes:
            raise self._no_index(name)
        del self.indexes[name]
        for alias, held in list(self.aliases.items()):
            held.pop(name, None)
            if not held:
                del self.aliases[alias]
        return {"acknowledged": True}

    def _within(self, name: str, rest: str, given: dict[str, Any]) -> Any:
        found = [(one, self.indexes[one]) for one in self._named(name)]
        if rest == "_refresh":
            for _, index in found:
                index.refresh()
            return {"_shards": {"failed": 0}}
        if rest == "_settings":
            for _, index in found:
                index.settings |= given["index"]
            return {"acknowledged": True}
        ((only, index),) = found
        if rest == "_mget":
            return {"docs": [self._got(only, index, one) for one in given["docs"]]}
        if rest == "_search":
            return self._search(index, self.aliases.get(name, {}).get(only, {}), given)
        raise RefusedError(
            400, "illegal_argument_exception", f"no handler found for uri [/{name}/{rest}]"
        )

    def _got(self, name: str, index: Index, asked: dict[str, Any]) -> Any:
        document = index.written.get(asked["_id"])
        if document is None:
            return {"_index": name, "_id": asked["_id"], "found": False}
        source = {one: document.source[one] for one in asked["_source"] if one in document.source}
        return {
            "_index": name,
            "_id": asked["_id"],
            "found": True,
            "_version": document.version,
            "_source": source,
        }

    def _named(self, name: str) -> list[str]:
        if name in self.indexes:
            return [name]
        if name in self.aliases:
            return list(self.aliases[name])
        raise self._no_index(name)

    def _no_index(self, name: str) -> RefusedError:
        return RefusedError(404, "index_not_found_exception", f"no such index [{name}]")

    def _aliases_of(self, name: str) -> dict[str, Any]:
        return {alias: held[name] for alias, held in self.aliases.items() if name in held}

    def _holders(self, alias: str) -> Any:
        if alias not in self.aliases:
            raise RefusedError(404, "aliases_not_found_exception", f"alias [{alias}] missing")
        return {one: {"aliases": {alias: options}} for one, options in self.aliases[alias].items()}

    def _move(self, given: dict[str, Any]) -> Any:
        """All actions or none."""
        moved = {alias: dict(held) for alias, held in self.aliases.items()}
        for action in given["actions"]:
            ((verb, one),) = action.items()
            alias, index = one["alias"], one["index"]
            if index not in self.indexes:
                raise self._no_index(index)
            if alias in self.indexes:
                raise RefusedError(
                    400, "invalid_alias_name_exception", f"an index exists with the name [{alias}]"
                )
            if verb == "add":
                moved.setdefault(alias, {})[index] = {
                    key: one[key] for key in ("filter",) if key in one
                }
            elif moved.get(alias, {}).pop(index, None) is None:
                raise RefusedError(404, "aliases_not_found_exception", f"aliases [{alias}] missing")
        self.aliases = {alias: held for alias, held in moved.items() if held}
        return {"acknowledged": True}

    def _bulk(self, media: str, body: bytes) -> Any:
        self.bulks += 1
        if media != "application/x-ndjson":
            raise RefusedError(
                406, "media_type_header_exception", f"Content-Type [{media}] is not supported"
            )
        if not body.endswith(b"\n"):
            raise RefusedError(
                400,
                "illegal_argument_exception",
                "The bulk request must be terminated by a newline",
            )
        if len(body) > self.max_bulk_bytes:
            raise RefusedError(413, "content_too_large", "Content Too Large")
        lines = iter(body.removesuffix(b"\n").split(b"\n"))
        items = []
        for line in lines:
            ((verb, head),) = msgspec.json.decode(line).items()
            source = msgspec.json.decode(next(lines)) if verb == "index" else None
            items.append({verb: self._item(head, source)})
        return {
            "errors": any(next(iter(one.values()))["status"] >= 300 for one in items),
            "items": items,
        }

    def _item(self, head: dict[str, Any], source: dict[str, Any] | None) -> dict[str, Any]:
        key, version = head["_id"], head["version"]
        said = {"_index": head["_index"], "_id": key}
        if self.put_off > 0:
            self.put_off -= 1
            return {
                **said,
                "status": 429,
                "error": {"type": "es_rejected_execution_exception", "reason": "busy"},
            }
        if len(key.encode()) > MAX_ID_BYTES:
            return _failed(
                said,
                400,
                "illegal_argument_exception",
                "id is too long, must be no longer than 512 bytes",
            )
        index = self.indexes.get(head["_index"])
        if index is None:  # a server makes one without a mapping
            self._create(head["_index"], {})
            index = self.indexes[head["_index"]]
        if head["version_type"] != "external" or version < 0:
            return _failed(
                said, 400, "action_request_validation_exception", "illegal version value"
            )
        if version <= index.versions.get(key, -1):
            reason = f"[{key}]: version conflict, current version [{index.versions[key]}] is higher"
            return _failed(said, 409, "version_conflict_engine_exception", reason)
        return self._written(index, said, version, source)

    def _written(
        self, index: Index, said: dict[str, Any], version: int, source: dict[str, Any] | None
    ) -> dict[str, Any]:
        key = said["_id"]
        if source is None:
            was = index.written.pop(key, None)
            index.versions[key] = version
            return {
                **said,
                "status": 404 if was is None else 200,
                "result": "not_found" if was is None else "deleted",
            }
        try:
            values = checked(index.fields, source)
        except WrongFieldError as error:
            return _failed(said, 400, "document_parsing_exception", str(error))
        texts = {
            path: words(values[path], one.get("analyzer", "standard"))
            for path, one in index.fields.items()
            if one["type"] == "text" and path in values
        }
        status = 200 if key in index.written else 201
        index.written[key] = Stored(key, version, source, values, texts)
        index.versions[key] = version
        return {**said, "status": status, "_version": version, "result": "created"}

    def _search(self, index: Index, options: dict[str, Any], body: dict[str, Any]) -> Any:
        if index.settings.get("refresh_interval") != "-1":
            index.refresh()
        if unknown := body.keys() - {
            "size", "query", "sort", "track_total_hits", "_source", "search_after", "aggs",
        }:  # fmt: skip
            raise RefusedError(400, "parsing_exception", f"Unknown key for [{min(unknown)}]")
        matcher = Matcher(index.fields)
        try:
            found = [
                (score, one)
                for one in index.searchable.values()
                if ("filter" not in options or matcher.score(options["filter"], one) is not None)
                and (score := matcher.score(body.get("query", {"match_all": {}}), one)) is not None
            ]
            counts = matcher.aggregated(body.get("aggs", {}), [one for _, one in found])
        except WrongQueryError as error:
            raise RefusedError(400, "parsing_exception", str(error)) from error
        hits = _page(found, body)
        total = body.get("track_total_hits", 10_000)
        said: dict[str, Any] = {"hits": {"hits": hits}}
        if total is not False:
            is_cut = len(found) > total
            said["hits"]["total"] = {
                "value": total if is_cut else len(found),
                "relation": "gte" if is_cut else "eq",
            }
        return {**said, "aggregations": counts} if counts else said


def _failed(said: dict[str, Any], status: int, kind: str, reason: str) -> dict[str, Any]:
    return {**said, "status": status, "error": {"type": kind, "reason": reason}}


def _page(found: list[tuple[float, Stored]], body: dict[str, Any]) -> list[dict[str, Any]]:
    """The hits in the order asked for, after a place."""
    criteria = [next(iter(one.items())) for one in body.get("sort", [{"_score": "desc"}])]

    def keys(score: float, one: Stored) -> list[Any]:
        return [score if name == "_score" else one.values.get(name) for name, _ in criteria]

    def precedes(mine: list[Any], other: list[Any]) -> bool:
        for (_, order), a, b in zip(criteria, mine, other, strict=True):
            if a != b:
                return bool(a > b if order == "desc" else a < b)
        return False

    hits = [(keys(score, one), one) for score, one in found]
    for at in reversed(range(len(criteria))):
        hits.sort(key=lambda hit: hit[0][at], reverse=criteria[at][1] == "desc")
    if "search_after" in body:
        hits = [hit for hit in hits if precedes(body["search_after"], hit[0])]
    return [{"_id": one.key, "sort": place} for place, one in hits[: body.get("size", 10)]]
