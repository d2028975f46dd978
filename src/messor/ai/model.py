"""One model behind an OpenAI-compatible endpoint: asked at most once per question, within caps.

The steps of a question: cached answer, circuit breaker, reservation, call, settlement. Endpoint
failures never raise; the caller verifies answers.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from hashlib import sha256
from typing import Any

import msgspec

from messor.ai.ledger import Ledger, LedgerEntry, OverCapError, Reservation, Subject
from messor.ai.options import ModelSettings
from messor.ai.prompt_files import Prompt
from messor.ai.reply import ABOUT_THE_TEXT, Reply, ReplyStatus
from messor.ai.wire import PATH, TITLE, Check, Dialect, read_reply
from messor.core.logs import room_logger
from messor.fetch.services import health, holds
from messor.fetch.services.breaker import FAULTS_IN_A_ROW, FIRST_WAIT, Breaker, BreakerPermit
from messor.fetch.services.endpoint import ServiceEndpoint
from messor.fetch.services.faults import ProviderFaultError
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Database

logger = room_logger(__name__)

# Token overhead of the endpoint's message format.
_WRAPPING = 256
USAGE = "model"  # its name among services that may be paused
_FORMS = 5  # maximum request variants tried if an endpoint refuses parts of a request
_encode = msgspec.json.Encoder(order="sorted").encode


@dataclass(frozen=True, slots=True)
class Question:
    """A text and a question about it. `schema` is the answer's JSON Schema, `check` validates it."""

    purpose: str
    prompt: Prompt
    schema: dict[str, Any]
    check: Check
    text: str
    facts: Mapping[str, str] = field(default_factory=dict)  # values for the prompt's placeholders

    def input_hash(self, model: str) -> bytes:
        """Return a hash of model, prompt version, schema and text."""
        parts = [model, self.prompt.version, dict(self.facts), self.schema, self.text]
        return sha256(_encode(parts)).digest()

    def messages(self) -> list[dict[str, str]]:
        schema = msgspec.json.encode(self.schema).decode()
        return self.prompt.messages(self.text, **self.facts, schema=schema)


def most_tokens(messages: list[dict[str, str]], schema: dict[str, Any]) -> int:
    """Return an upper bound of the messages' tokens: no tokeniser yields more tokens than bytes."""
    texts = [message["content"] for message in messages]
    sizes = (
        max(_size(text), _size(unicodedata.normalize("NFKC", text)))
        for text in (*texts, msgspec.json.encode(schema).decode())
    )
    return sum(sizes) + _WRAPPING


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


class Model:
    """Asks one model."""

    def __init__(
        self, settings: ModelSettings, database: Database, *, breaker: Breaker | None = None
    ) -> None:
        self.settings = settings
        self.name = settings.model
        self.ledger = Ledger(
            database, job=settings.job, domain=settings.domain, month=settings.month
        )
        self.breaker = breaker or Breaker()
        self._database = database
        self._endpoint = ServiceEndpoint(TITLE, settings.service)
        self._dialect = Dialect()

    async def close(self) -> None:
        await self._endpoint.close()

    async def ask(self, question: Question, subject: Subject) -> Reply:
        """Ask a question unless its answer is cached; never raises."""
        try:
            known = await self.ledger.known(question.input_hash(self.name))
            return known or await self._unless_left_alone(question, subject)
        except (*LOST_CONNECTION, *TRY_AGAIN) as error:
            logger.warning("The model ledger is unavailable: %s", type(error).__name__)
            return Reply(
                ReplyStatus.LEFT_ALONE,
                sentence=f"{TITLE} was not asked: the ledger is unavailable.",
            )

    async def _unless_left_alone(self, question: Question, subject: Subject) -> Reply:
        ticket = self.breaker.admit()
        if ticket is None:
            sentence = f"{TITLE} was not asked: {self.breaker.sentence}"
            return Reply(ReplyStatus.LEFT_ALONE, sentence=sentence, wait=self.breaker.remaining)
        try:
            held = await holds.current(self._database, USAGE)
            if held is not None:  # another worker was told to wait
                self.breaker.hold(held.seconds, held.reason)
                sentence = f"{TITLE} was not asked: {self.breaker.sentence}"
                return Reply(ReplyStatus.LEFT_ALONE, sentence=sentence, wait=held.seconds)
            return await self._within_caps(question, subject, ticket)
        finally:
            ticket.give_back()

    async def _within_caps(
        self, question: Question, subject: Subject, ticket: BreakerPermit
    ) -> Reply:
        messages, max_output = question.messages(), self.settings.output_tokens
        prompt_tokens = most_tokens(messages, question.schema)
        digest = question.input_hash(self.name)
        version = question.prompt.version
        entry = LedgerEntry(digest, question.purpose, self.name, version, subject)
        try:
            held = await self.ledger.reserve(
                entry, prompt_tokens + max_output, self.settings.cost(prompt_tokens, max_output)
            )
        except OverCapError as error:
            wait = self.settings.service.timeout if error.is_passing else 0.0
            ending = ReplyStatus.LEFT_ALONE if error.is_passing else ReplyStatus.OVER_CAP
            return Reply(ending, sentence=error.sentence, wait=wait)
        if held is None:
            sentence = f"{TITLE} was not asked: the same question is already in flight."
            return Reply(
                ReplyStatus.IN_FLIGHT, sentence=sentence, wait=self.settings.service.timeout
            )
        reply = self._scrubbed(await self._called(question, messages), held)
        if reply.slow_down:
            reply = await self._share(reply)
        await self._tell(ticket, reply, subject)
        await self._settle(held, reply)
        return reply

    async def _called(self, question: Question, messages: list[dict[str, str]]) -> Reply:
        """Call the endpoint; a request part it refuses is replaced by a variant."""
        try:
            for _ in range(_FORMS):
                body = self._dialect.body(
                    self.name, messages, question.schema, self.settings.output_tokens
                )
                answer = await self._endpoint.post(PATH, body)
                if not self._dialect.learn(answer):
                    break
            return read_reply(answer, question.check)
        except ProviderFaultError as fault:
            return _of_fault(fault)

    def _scrubbed(self, reply: Reply, held: Reservation) -> Reply:
        return replace(reply, sentence=self._endpoint.scrub(reply.sentence), call_id=held.call_id)

    async def _tell(self, ticket: BreakerPermit, reply: Reply, subject: Subject) -> None:
        """Report to the circuit breaker; an endpoint with a useless model is still healthy."""
        if reply.is_answer or reply.ending in ABOUT_THE_TEXT:
            ticket.answered()
        elif reply.is_doubtful:
            ticket.failed_at(subject.domain, reply.sentence)
            await self._check_health()
        else:
            ticket.failed(reply.sentence, reply.wait)

    async def _check_health(self) -> None:
        """After several failed texts in a row, which may all be of one domain, check the endpoint's
        health.
        """
        if self.breaker.page_faults % FAULTS_IN_A_ROW or not self.breaker.available:
            return
        at = self.settings.service
        standing = await health.standing_of(
            at.base_url, health.MODEL_ROUTES, at.api_key, ca_file=at.ca_file
        )
        if not standing.is_good:
            self.breaker.hold(FIRST_WAIT, f"{TITLE} {standing.sentence}")

    async def _share(self, reply: Reply) -> Reply:
        """Make every worker wait: an endpoint's rate limit is shared."""
        # Exponential backoff starts at a wait of a minute or less.
        named = reply.wait if reply.wait > holds.FIRST_SECONDS else None
        try:
            wait = await holds.hold(self._database, USAGE, named, reply.sentence)
        except (*LOST_CONNECTION, *TRY_AGAIN) as error:
            logger.warning("The model's hold was not shared: %s", type(error).__name__)
            return reply
        return replace(reply, wait=wait)

    async def _settle(self, held: Reservation, reply: Reply) -> None:
        tokens, cost = 0, Decimal(0)
        if reply.usage is not None:
            tokens = reply.usage.prompt + reply.usage.completion
            cost = self.settings.cost(reply.usage.prompt, reply.usage.completion)
        elif reply.is_charged:  # usage unknown: assume the maximum
            tokens, cost = held.tokens, held.cost
        try:
            await self.ledger.settle(held, reply, tokens, cost)
        except (*LOST_CONNECTION, *TRY_AGAIN) as error:
            # The reservation stays: better one question too few than one too many.
            logger.warning("A call of the model was not settled: %s", type(error).__name__)


def _of_fault(fault: ProviderFaultError) -> Reply:
    """No answer, or an incomplete one."""
    if isinstance(fault.__cause__, TimeoutError) and fault.charged:
        ending = ReplyStatus.TIMED_OUT
    elif fault.of_the_page:
        ending = ReplyStatus.BAD_ANSWER
    else:
        ending = ReplyStatus.UNREACHABLE
    return Reply(
        ending,
        sentence=fault.sentence,
        wait=fault.hold,
        is_charged=fault.charged,
        is_doubtful=fault.doubtful,
    )
