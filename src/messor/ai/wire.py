"""Requests to an OpenAI-compatible endpoint: a chat completion, and the evaluation of its response.

Endpoints differ in what they accept: a schema or only JSON, different names for the token limit, a
temperature or none. What one refuses is left out from then on. Tools are never offered.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from messor.ai.reply import Reply, ReplyStatus, Usage
from messor.fetch.services.answer import ServiceResponse
from messor.fetch.services.faults import fault_of_status, one_line, said_by

PATH = "chat/completions"
TITLE = "The model"
SLOW_DOWN = 30.0  # seconds, if an overloaded endpoint gives no delay
_MAX_TOKENS = 100_000_000  # higher counts are errors
# What to change if an endpoint refuses a part of the request.
_CHANGES = ("max_tokens", "temperature", "response_format")
# Error codes that refuse one text, not the client.
_TOO_LONG = re.compile(r"context[ _](?:length|size|window)", re.IGNORECASE)
_FILTERED = frozenset(("content_filter", "content_policy_violation"))
# Reasoning that some models emit before their answer.
_THOUGHTS = re.compile(r"\s*<think>.*?</think>", re.DOTALL)

# Returns why a value is invalid, None if it is valid.
Check = Callable[[Any], str | None]


class Message(msgspec.Struct):
    content: Any = None
    refusal: str | None = None
    tool_calls: list[Any] | None = None


class CompletionChoice(msgspec.Struct):
    message: Message = msgspec.field(default_factory=Message)
    finish_reason: str | None = None


class Tokens(msgspec.Struct):
    prompt_tokens: int = -1
    completion_tokens: int = -1


class Completion(msgspec.Struct):
    choices: list[CompletionChoice]
    usage: Tokens | None = None


class Dialect:
    """The request features the endpoint accepts."""

    def __init__(self) -> None:
        self._refused: dict[str, int] = {}

    def body(
        self, model: str, messages: list[dict[str, str]], schema: dict[str, Any], tokens: int
    ) -> dict[str, Any]:
        limit = "max_completion_tokens" if self._refused.get("max_tokens") else "max_tokens"
        body: dict[str, Any] = {"model": model, "messages": messages, limit: tokens, "n": 1}
        if not self._refused.get("temperature"):
            body["temperature"] = 0
        match self._refused.get("response_format", 0):
            case 0:
                form = {"name": "answer", "strict": True, "schema": schema}
                body["response_format"] = {"type": "json_schema", "json_schema": form}
            case 1:
                body["response_format"] = {"type": "json_object"}
        return body

    def learn(self, answer: ServiceResponse) -> bool:
        """Whether a refusal names a request part that has a variant."""
        if answer.status not in (400, 422) or _of_the_text(answer) is not None:
            return False
        part = _refused_part(answer.value)
        most = 2 if part == "response_format" else 1
        if part is None or self._refused.get(part, 0) >= most:
            return False
        self._refused[part] = self._refused.get(part, 0) + 1
        return True


def _refused_part(value: Any) -> str | None:
    named = _error(value).get("param")
    sentence = f"{named if isinstance(named, str) else ''} {said_by(value)}"
    return next((part for part in _CHANGES if part in sentence), None)


def read_reply(answer: ServiceResponse, check: Check) -> Reply:
    """Return the reply for an endpoint's response."""
    if answer.status != 200:
        return _of_status(answer)
    try:
        found: Completion = answer.read(Completion)
    except (ValueError, RecursionError):
        sentence = f"{TITLE} did not return a chat completion."
        return Reply(ReplyStatus.BAD_ANSWER, sentence=sentence, is_charged=True)
    usage = _usage(found.usage)
    if not found.choices:
        sentence = f"{TITLE} returned no choices."
        return Reply(ReplyStatus.BAD_ANSWER, sentence=sentence, usage=usage, is_charged=True)
    ending, value, sentence = _judge(found.choices[0], check)
    return Reply(ending, value, sentence, usage=usage, is_charged=True)


def _judge(choice: CompletionChoice, check: Check) -> tuple[ReplyStatus, Any, str]:
    message = choice.message
    if message.refusal:
        return ReplyStatus.REFUSED, None, f"{TITLE} refused: {one_line(message.refusal)}"
    if choice.finish_reason == "content_filter":
        return ReplyStatus.REFUSED, None, f"{TITLE}'s content filter withheld the answer."
    if choice.finish_reason == "length":
        return ReplyStatus.TRUNCATED, None, f"{TITLE}'s answer exceeds the token limit."
    try:
        return ReplyStatus.ANSWERED, _content(message, check), ""
    except ValueError as error:
        return ReplyStatus.BAD_ANSWER, None, f"{TITLE} {one_line(str(error))}."


def _content(message: Message, check: Check) -> Any:
    """Return the JSON of a message; raises ValueError that says what is wrong."""
    if message.tool_calls:
        raise ValueError("tried to use a tool, but none was offered")
    content = _bare(_text(message.content))
    if not content:
        raise ValueError("returned an empty answer")
    try:
        value = msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError("did not return JSON") from error
    wrong = check(value)
    if wrong is not None:
        raise ValueError(f"returned an invalid answer: {wrong}")
    return value


def _text(content: Any) -> str:
    """Return the text of a message: some endpoints send it in parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))


def _bare(content: str) -> str:
    """Return the JSON without preceding reasoning and its markdown fence."""
    thoughts = _THOUGHTS.match(content)
    text = content[thoughts.end() if thoughts else 0 :].strip()
    if text.startswith("```") and text.endswith("```") and len(text) > 6:
        text = text[3:-3].removeprefix("json").strip()
    return text


def _of_status(answer: ServiceResponse) -> Reply:
    about_the_text = _of_the_text(answer)
    if about_the_text is not None:
        return Reply(ReplyStatus.REFUSED, sentence=about_the_text)
    fault = fault_of_status(TITLE, answer)
    status = answer.status
    if status == 429 and _out_of_money(answer.value):
        return Reply(
            ReplyStatus.REJECTED, sentence=f"{TITLE}'s account has no credit left.", wait=3600
        )
    if status in (408, 409, 425, 429) or status >= 500:
        wait = fault.hold or SLOW_DOWN
        return Reply(
            ReplyStatus.OVERLOADED,
            sentence=fault.sentence,
            wait=wait,
            slow_down=status == 429,
            is_doubtful=fault.doubtful,
        )
    return Reply(ReplyStatus.REJECTED, sentence=fault.sentence, wait=fault.hold)


def _of_the_text(answer: ServiceResponse) -> str | None:
    """Return how an endpoint refuses this text, None if the refusal has another cause."""
    error = _error(answer.value)
    if answer.status not in (400, 413, 422):
        return None
    if not _FILTERED.isdisjoint(_codes(error)):
        return f"{TITLE}'s content filter rejected the text."
    if answer.status == 413 or _TOO_LONG.search(" ".join((*_codes(error), said_by(answer.value)))):
        return f"{TITLE} rejected the text as too long; lower MESSOR_AI_CHUNK_CHARS."
    return None


def _out_of_money(value: Any) -> bool:
    return "insufficient_quota" in _codes(_error(value))


def _error(value: Any) -> dict[str, Any]:
    error = value.get("error") if isinstance(value, dict) else None
    return error if isinstance(error, dict) else {}


def _codes(error: dict[str, Any]) -> list[str]:
    return [code for name in ("code", "type") if isinstance(code := error.get(name), str)]


def _usage(sentence: Tokens | None) -> Usage | None:
    """Return the endpoint's count, None if missing or implausible."""
    if sentence is None or not (0 <= sentence.prompt_tokens <= _MAX_TOKENS):
        return None
    if not 0 <= sentence.completion_tokens <= _MAX_TOKENS:
        return None
    return Usage(sentence.prompt_tokens, sentence.completion_tokens)
