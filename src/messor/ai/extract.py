"""Extracts records of a page with a model: one question per chunk, and proof of every value.

Model failures never raise. The caller decides which pages to ask about and how the records relate
to those of parsers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from messor.ai.ledger import Subject
from messor.ai.model import Model, Question
from messor.ai.model_page import ModelPage
from messor.ai.prompt_files import Prompt, prompt
from messor.ai.proof import Unverified
from messor.ai.questions import answer_schema, check_answer, described
from messor.ai.reply import NOT_ASKED, Reply, ReplyStatus
from messor.content.kinds import KINDS
from messor.content.kinds.build import distinct
from messor.content.records import Record
from messor.store.database import LOST_CONNECTION, TRY_AGAIN

W5_KINDS = tuple(kind.name for kind in KINDS.values() if kind.is_asked_without_vertical)


@dataclass(slots=True)
class AiReading:
    """Records the page supports, those it does not, and the reply to each question."""

    records: list[Record] = field(default_factory=list)
    unverified: list[Unverified] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    is_cut: bool = False  # the page was truncated
    withheld: int = 0  # lines withheld as prompt injections

    @property
    def is_complete(self) -> bool:
        """Whether every question was answered; otherwise a missing record means nothing."""
        return all(reply.is_answer for reply in self.replies)


def version_of(model: str, instruction: Prompt | None = None) -> str:
    """Return the version a model's records are stored under."""
    return f"{(instruction or prompt('extract')).version}:{model}"


class AiReader:
    """Reads pages with one model."""

    def __init__(self, model: Model, *, instruction: Prompt | None = None) -> None:
        self._model = model
        self._prompt = instruction or prompt("extract")
        self.version = version_of(model.name, self._prompt)

    async def read(
        self, page: ModelPage, subject: Subject, kinds: Sequence[str] = W5_KINDS
    ) -> AiReading:
        """Ask about a page; one without visible text costs nothing."""
        limits = self._model.settings
        text = await page.input(limits.chunk_chars, limits.chunks)
        reading = AiReading(is_cut=text.is_cut, withheld=text.withheld)
        for chunk in text.chunks:
            reply = await self._model.ask(self._question(kinds, chunk), subject)
            reading.replies.append(reply)
            if reply.ending in NOT_ASKED or reply.ending is ReplyStatus.REJECTED:
                break  # the next one would fail too
            if reply.is_answer:
                proof = await page.prove(self.version, reply.value)
                reading.records += proof.records
                reading.unverified += proof.unverified
                await self._keep_doubts(reply, proof.unverified)
        reading.records = distinct(reading.records)
        return reading

    def _question(self, kinds: Sequence[str], text: str) -> Question:
        return Question(
            purpose=f"extract:{','.join(kinds)}",
            prompt=self._prompt,
            schema=answer_schema(kinds),
            check=partial(check_answer, kinds),
            text=text,
            facts={"kinds": described(kinds)},
        )

    async def _keep_doubts(self, reply: Reply, doubts: list[Unverified]) -> None:
        if not doubts or reply.is_cached or reply.call_id is None:
            return
        try:
            await self._model.ledger.doubt(reply.call_id, [each.as_json() for each in doubts])
        except (*LOST_CONNECTION, *TRY_AGAIN):
            return  # recreated from the stored answer when the page is read again
