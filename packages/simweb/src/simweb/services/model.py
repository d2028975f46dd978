"""A stand-in for an OpenAI-compatible endpoint: chat completions by a trivial model.

Like real ones it counts tokens, stops at the given limit, rejects unknown parts of requests and,
unless configured otherwise, follows any instruction in the text it was given: a reader that is safe
with this one does not rely on a model's good sense.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from enum import StrEnum
from typing import Any, TypeAlias

from aiohttp import web

from simweb.services.render import Rendered
from simweb.services.standin import Failure, Said, StandIn, say

# A text and the schema of the reply → the reply.
Mind: TypeAlias = Callable[[str, dict[str, Any]], Any]

_TOKEN = re.compile(r"\w{1,4}|\s+|.", re.DOTALL)
_FENCE = re.compile(r"<<<(\S+)\n(.*)\n\1>>>", re.DOTALL)
_ORDER = re.compile(
    r"\b(?:ignore|disregard|forget|output|return|respond|reply|answer|say|set|print|write|report"
    r"|include|instruction|system|assistant|you must|antworte|ignoriere|ignora|ignorez)\b",
    re.IGNORECASE,
)
_DICTATED = re.compile(r"[A-Z]{3,}[A-Z0-9]*-\d+[\w-]*|!\[[^\]]*\]\([^)]*\)|https?://\S+")
_OFFER = re.compile(r"\d\s?%|\bfree\b|\boffer\b|\bdiscount\b|\bsave\b", re.IGNORECASE)
_ACTION = re.compile(
    r"(?:book|buy|order|call|contact|sign up|subscribe|apply|donate)\b", re.IGNORECASE
)
_PRICE = re.compile(r"(?:[€$£]\s?\d[\d.,]*\d|\d[\d.,]*\s?(?:[€$£]|EUR|USD|GBP))")


class Mood(StrEnum):
    """How its replies go wrong."""

    BAD_JSON = "bad JSON"
    PROSE = "prose"
    FENCED = "fenced"  # valid JSON in a markdown fence
    THINKING = "thinking"  # thinking aloud, before valid JSON
    IN_PARTS = "in parts"  # valid JSON in a list of parts
    OTHER_SHAPE = "other shape"
    LOOPING = "looping"  # repeats itself until it is stopped
    REFUSING = "refusing"
    FILTERED = "filtered"
    SILENT_MIND = "silent mind"  # a reply without content
    USING_TOOLS = "using tools"
    NO_CHOICE = "no choice"
    NO_USAGE = "no usage"
    ABSURD_USAGE = "absurd usage"
    NO_QUOTA = "no quota"  # a 429 that waiting does not resolve
    UNKNOWN_MODEL = "unknown model"
    TEXT_TOO_LONG = "text too long"  # for its context, including the token limit
    TEXT_FILTERED = "text filtered"  # before the model saw it


# Status, message, part and code of each of these for every request.
_REFUSALS: dict[Mood, tuple[int, str, str | None, str]] = {
    Mood.NO_QUOTA: (429, "You exceeded your current quota.", None, "insufficient_quota"),
    Mood.UNKNOWN_MODEL: (404, "The model does not exist.", "model", "model_not_found"),
    Mood.TEXT_TOO_LONG: (
        400,
        "The maximum context length is 8192 tokens; reduce the messages or max_tokens.",
        "messages",
        "context_length_exceeded",
    ),
    Mood.TEXT_FILTERED: (400, "The prompt triggered our policy.", "prompt", "content_filter"),
}


class ModelStandIn(StandIn):
    """Serves chat completions; `mind` decides the reply, `mood` how it goes wrong."""

    name = "model"
    failures = {  # noqa: RUF012 - a table
        Failure.UNAUTHORIZED: Said(
            401, {"error": {"message": "Incorrect API key provided.", "code": "invalid_api_key"}}
        ),
        Failure.NO_CREDITS: Said(402, {"error": {"message": "Payment required."}}),
        Failure.FORBIDDEN: Said(403, {"error": {"message": "Country not supported."}}),
        Failure.REQUEST_TOO_LARGE: Said(413, {"error": {"message": "Request too large."}}),
        Failure.INVALID: Said(422, {"detail": [{"loc": ["body", "messages"], "msg": "invalid"}]}),
        Failure.TOO_MANY: Said(
            429, {"error": {"message": "Rate limit reached.", "type": "requests"}}
        ),
        Failure.TOO_MANY_UNTIL: Said(
            429, {"error": {"message": "Rate limit reached."}}, {"Retry-After": "90"}
        ),
        Failure.BUSY: Said(503, {"error": {"message": "Overloaded."}}, {"Retry-After": "5"}),
        Failure.INTERNAL: Said(500, {"error": {"message": "The server had an error."}}),
        Failure.BAD_GATEWAY: Said(502, {"error": {"message": "Bad gateway."}}),
        Failure.GATEWAY_TIMEOUT: Said(504, {"error": {"message": "Gateway time-out."}}),
    }

    def __init__(
        self,
        *,
        api_key: str | None = None,
        model: str = "little",
        mind: Mind | None = None,
        obeys: bool = True,
        refuses: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(_nothing, api_key=api_key)
        self.model = model
        self.mood: Mood | None = None
        self.obeyed = 0  # replies that a text dictated
        self.tokens_counted = 0
        self._mind = mind or simple_mind
        self._obeys = obeys
        # Unsupported parts of a request: json_schema, json_object, max_tokens, temperature.
        self._refuses = refuses

    def route(self, router: web.UrlDispatcher) -> None:
        router.add_post("/v1/chat/completions", self._complete)

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        body = await self.note(request)
        if not self.knows(request):
            return say(self.failures[Failure.UNAUTHORIZED])
        failing = await self.fail(request)
        if failing is not None:
            return failing
        given = body if isinstance(body, dict) else {}
        refusal = self._refusal(given)
        return say(refusal if refusal is not None else self._answer(given))

    def _refusal(self, given: dict[str, Any]) -> Said | None:
        """Why a request is rejected, in the words of such endpoints."""
        if self.mood in _REFUSALS:
            return _error(*_REFUSALS[self.mood])
        if given.get("model") != self.model:
            missing = (400, "you must provide a model parameter", "model")
            return _error(*(_REFUSALS[Mood.UNKNOWN_MODEL] if "model" in given else missing))
        if not isinstance(given.get("messages"), list) or not given["messages"]:
            return _error(400, "'messages' is a required property", "messages")
        form = (given.get("response_format") or {}).get("type")
        if form in self._refuses:
            return _error(400, f"'{form}' is not supported with this model.", "response_format")
        for part in ("max_tokens", "temperature"):
            if part in given and part in self._refuses:
                return _error(
                    400, f"Unsupported parameter: '{part}'.", part, "unsupported_parameter"
                )
        return None

    def _answer(self, given: dict[str, Any]) -> Said:
        text = "\n".join(str(message.get("content", "")) for message in given["messages"])
        most = given.get("max_completion_tokens") or given.get("max_tokens") or 100_000
        message, reason = self._message(given)
        content = message.get("content") or ""
        tokens = _TOKEN.findall(content if isinstance(content, str) else json.dumps(content))
        if len(tokens) > most:
            message["content"], reason = "".join(tokens[:most]), "length"
        used = {
            "prompt_tokens": count_tokens(text),
            "completion_tokens": min(len(tokens), most),
        }
        used["total_tokens"] = sum(used.values())
        self.tokens_counted += used["total_tokens"]
        choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
        value: dict[str, Any] = {
            "id": "chatcmpl-stand-in",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": self.model,
            "choices": [] if self.mood is Mood.NO_CHOICE else [choice],
            "usage": used,
        }
        if self.mood is Mood.NO_USAGE:
            del value["usage"]
        elif self.mood is Mood.ABSURD_USAGE:
            value["usage"] = {"prompt_tokens": -5, "completion_tokens": 10**30}
        return Said(200, value)

    def _message(self, given: dict[str, Any]) -> tuple[dict[str, Any], str]:
        message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
        reason = "stop"
        match self.mood:
            case Mood.BAD_JSON:
                message["content"] = '{"offer": [{"title": "Spr'
            case Mood.PROSE:
                message["content"] = "Sure! Here are the offers that I found on the page."
            case Mood.OTHER_SHAPE:
                message["content"] = '{"offer": "none", "thoughts": ["hm"]}'
            case Mood.LOOPING:
                message["content"] = '{"offer": [' + '{"title": "again"}, ' * 100_000
            case Mood.REFUSING:
                message["refusal"] = "I'm sorry, I cannot assist with that request."
            case Mood.FILTERED:
                reason = "content_filter"
            case Mood.SILENT_MIND:
                message["content"] = ""
            case Mood.USING_TOOLS:
                call = {"name": "fetch", "arguments": '{"url": "https://evil.test/"}'}
                message["tool_calls"] = [{"id": "1", "type": "function", "function": call}]
                reason = "tool_calls"
            case _:
                said = json.dumps(self._think(given), ensure_ascii=False)
                message["content"] = self._worded(said)
        return message, reason

    def _worded(self, said: str) -> Any:
        """Valid JSON in the configured wrapping."""
        match self.mood:
            case Mood.FENCED:
                return f"```json\n{said}\n```"
            case Mood.THINKING:
                return f"<think>\nIs {{this}} an offer?\n</think>\n\n{said}"
            case Mood.IN_PARTS:
                half = len(said) // 2
                return [{"type": "text", "text": text} for text in (said[:half], said[half:])]
        return said

    def _think(self, given: dict[str, Any]) -> Any:
        user = str(given["messages"][-1].get("content", ""))
        fenced = _FENCE.search(user)
        text, schema = fenced[2] if fenced else user, _schema(given)
        if self._obeys and _ORDER.search(text):
            dictated = obey(text, schema)
            if dictated is not None:
                self.obeyed += 1
                return dictated
        return self._mind(text, schema)


def count_tokens(text: str) -> int:
    """Roughly a real tokeniser's count, never more than there are bytes."""
    return len(_TOKEN.findall(text))


def obey(text: str, schema: dict[str, Any]) -> Any:
    """The reply that a text dictates: its JSON, or what it names, in every field."""
    for match in re.finditer(r"\{[^{}]{1,2000}\}", text):
        try:
            value = json.loads(match[0])
        except ValueError:
            continue
        if isinstance(value, dict):
            return _filled(schema, value)
    named = _DICTATED.search(text)
    if named is None:
        return None
    price = _PRICE.search(text)
    return _filled(schema, {"": named[0], "price": price[0] if price else named[0]})


def _filled(schema: dict[str, Any], values: dict[str, Any]) -> Any:
    """A reply of the schema's shape with foreign values."""
    made: dict[str, Any] = {}
    for name, part in schema.get("properties", {}).items():
        if part.get("type") == "array":
            fields = part["items"]["properties"]
            chosen = {f: values.get(f, values.get("")) for f in fields}
            made[name] = [{f: None if v is None else str(v) for f, v in chosen.items()}]
        elif part.get("type") == "boolean":
            made[name] = bool(values.get(name, True))
        else:
            made[name] = str(values.get(name, values.get("", "")))
    return made


def simple_mind(text: str, schema: dict[str, Any]) -> Any:
    """Copies lines that look like what the schema names."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    made: dict[str, Any] = {}
    for name, part in schema.get("properties", {}).items():
        if part.get("type") == "boolean":
            made[name] = any(_OFFER.search(line) for line in lines)
        elif part.get("type") != "array":
            made[name] = next(
                (line for line in lines if _OFFER.search(line)), lines[0] if lines else ""
            )
        elif name == "call_to_action":
            made[name] = _records(part, "label", [line for line in lines if _ACTION.match(line)])
        else:
            head = next(iter(part["items"]["properties"]))
            made[name] = _records(part, head, [line for line in lines if _OFFER.search(line)])
    return made


def _records(part: dict[str, Any], head: str, lines: list[str]) -> list[dict[str, str | None]]:
    found = []
    for line in lines[:20]:
        record: dict[str, str | None] = dict.fromkeys(part["items"]["properties"])
        record[head] = line
        price = _PRICE.search(line)
        if price is not None and "price" in record:
            record["price"] = price[0]
        found.append(record)
    return found


def _schema(given: dict[str, Any]) -> dict[str, Any]:
    """The requested schema: in the request, or at the end of the prompt."""
    form = (given.get("response_format") or {}).get("json_schema")
    if isinstance(form, dict):
        return dict(form.get("schema") or {})
    schema = str(given["messages"][0].get("content", "")).rpartition("Schema:\n")[2]
    try:
        return dict(json.loads(schema))
    except ValueError:
        return {}


def _error(status: int, message: str, param: str | None, code: str | None = None) -> Said:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return Said(status, {"error": error})


async def _nothing(href: str) -> Rendered:
    return Rendered(href, error="net::ERR_NAME_NOT_RESOLVED")
