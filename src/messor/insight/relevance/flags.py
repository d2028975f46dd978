"""Flagging: rules first, then the trained classifier, then a model for what is still borderline.

Without a model a borderline page stays undecided and waits for a reviewer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from messor.ai.chunks import pack
from messor.ai.injections import injection_lines
from messor.ai.ledger import Subject
from messor.ai.model import Model, Question
from messor.ai.prompt_files import prompt
from messor.ai.reply import Reply
from messor.content.plain import one_space
from messor.insight.relevance.classifier import Classifier
from messor.insight.relevance.flag import RelevanceFlag
from messor.insight.relevance.lexical import lexical_score
from messor.insight.relevance.topic import Topic

_MAX_QUOTE = 400
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"relevant": {"type": "boolean"}, "quote": {"type": "string"}},
    "required": ["relevant", "quote"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class PageText:
    """What is judged of a page: its title and main text, as visitors see them."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class ActiveClassifier:
    """The active classifier and its version."""

    classifier: Classifier
    version: int


class Flagger:
    """Judges pages for one topic."""

    def __init__(
        self, topic: Topic, *, learnt: ActiveClassifier | None = None, model: Model | None = None
    ) -> None:
        self.topic = topic
        self._learnt = learnt
        self._model = model

    async def flag(self, page: PageText, subject: Subject) -> RelevanceFlag:
        """Judge a page; calls the model only if nothing else can decide."""
        return (await self.ask(page, subject))[0]

    async def ask(self, page: PageText, subject: Subject) -> tuple[RelevanceFlag, Reply | None]:
        """The same, with the model's reply if it was called."""
        flag = self.judge(page)
        if flag.relevant is not None or self._model is None:
            return flag, None
        return await self._asked(page, subject, flag, self._model)

    def judge(self, page: PageText) -> RelevanceFlag:
        """Judge a page without the model."""
        rules = lexical_score(self.topic, page.title, page.text)
        if self._learnt is None:
            version = f"rules-{self.topic.version}"
            return RelevanceFlag(
                self._side(rules.value), round(rules.value, 4), rules.reasons, version
            )
        judge = self._learnt.classifier
        score = judge.score(page.title, page.text, rules.value)
        reasons = (*judge.reasons(page.title, page.text, rules.value), *rules.reasons[:3])
        return RelevanceFlag(
            self._side(score), round(score, 4), reasons, f"learnt-{self._learnt.version}"
        )

    def _side(self, score: float) -> bool | None:
        if score >= self.topic.relevant_from:
            return True
        return False if score <= self.topic.irrelevant_to else None

    async def _asked(
        self, page: PageText, subject: Subject, flag: RelevanceFlag, model: Model
    ) -> tuple[RelevanceFlag, Reply | None]:
        shown = _visible_beginning(page, model.settings.chunk_chars)
        if not shown:
            return flag, None
        instruction = prompt("relevance")
        question = Question(
            purpose=f"relevance:{self.topic.name}",
            prompt=instruction,
            schema=_SCHEMA,
            check=_check,
            text=shown,
            facts={"topic": self.topic.about or ", ".join(list(self.topic.phrases)[:40])},
        )
        reply = await model.ask(question, subject)
        return _judged(flag, reply, shown, f"{instruction.version}:{model.name}"), reply


def _visible_beginning(page: PageText, size: int) -> str:
    """The beginning of a page without lines addressed to a machine."""
    lines = [one_space(line) for line in (page.title, *page.text.splitlines())]
    ordering = injection_lines(lines)
    kept = (line for number, line in enumerate(lines) if line and number not in ordering)
    return next(iter(pack(kept, size)), "")


def _judged(flag: RelevanceFlag, reply: Reply, shown: str, version: str) -> RelevanceFlag:
    """The model's judgement if its quote is on the page; otherwise the page stays undecided."""
    if not reply.is_answer:
        return RelevanceFlag(None, flag.score, (*flag.reasons, reply.sentence), flag.model_version)
    quote = one_space(reply.value["quote"])
    if not quote or quote.casefold() not in one_space(shown).casefold():
        reason = "unverified: the model's quote is not on the page"
        return RelevanceFlag(None, flag.score, (*flag.reasons, reason), flag.model_version)
    relevant = bool(reply.value["relevant"])
    # The model only tips the scales: the score stays near that of rules and reviewers.
    score = round((flag.score + (1.0 if relevant else 0.0)) / 2, 4)
    return RelevanceFlag(relevant, score, (f"model: {quote[:200]}", *flag.reasons), version)


def _check(value: Any) -> str | None:
    if not isinstance(value, dict) or set(value) != {"relevant", "quote"}:
        return "the reply is not {relevant, quote}"
    if not isinstance(value["relevant"], bool):
        return "relevant is neither true nor false"
    if not isinstance(value["quote"], str) or len(value["quote"]) > _MAX_QUOTE:
        return f"quote is not a text of at most {_MAX_QUOTE} characters"
    return None
