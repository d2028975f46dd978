"""A model asked over a real socket: answers, every way of having none, and what each is booked as."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import aiohttp
import pytest

from messor.ai.ledger import Subject
from messor.ai.model import most_tokens
from messor.ai.options import model_settings
from messor.ai.prompt_files import prompt
from messor.ai.reply import ReplyStatus
from messor.content.view import PageView
from messor.errors import UsageError
from messor.fetch.services import health
from messor.fetch.services.breaker import FAULTS_IN_A_ROW, Breaker
from messor.settings import Settings
from messor.store.database import Database
from simweb.services import Failure
from simweb.services.model import ModelStandIn, Mood, count_tokens
from tests.ai.ai_bench import KEY, OFFERS, bench, page

PRICED: dict[str, Any] = {"input_price": Decimal(1), "output_price": Decimal(4)}


async def test_offers_and_calls_to_action_are_read_with_proof(database: Database) -> None:
    async with bench(database, **PRICED) as b:
        reading = await b.read()
        offer, free, action = reading.records
        assert reading.is_complete
        assert (offer.kind, offer.value("price"), offer.value("currency")) == ("offer", 49.9, "EUR")
        assert free.value("title") == "Free first consultation"
        assert free.fields["title"].evidence.quote == "Free <b>first</b> consultation"
        assert {name: action.value(name) for name in action.fields} == {
            "label": "Book now",
            "action": "book",
            "url": "/book",
        }
        assert offer.parser == "ai"
        assert offer.parser_version == "extract-1:little"
        (call,) = await b.calls()
        assert call["ending"] == "answered"
        cost = Decimal(call["prompt_tokens"] + 4 * call["completion_tokens"]) / 1_000_000
        assert call["tokens"] == b.standin.tokens_counted
        counted = (1, call["tokens"], cost)
        assert await b.used() == dict.fromkeys(("domain:spa.test", "job:job-1", "month"), counted)


async def test_what_is_asked_is_fenced_schema_bound_and_without_tools(database: Database) -> None:
    async with bench(database) as b:
        await b.read()
        (asked,) = b.standin.asked
        assert asked.headers["Authorization"] == f"Bearer {KEY}"
        body = asked.body
        assert "tools" not in body
        assert body["response_format"]["json_schema"]["strict"] is True
        schema = body["response_format"]["json_schema"]["schema"]
        assert set(schema["properties"]) == {"offer", "call_to_action"}
        assert "url" not in str(schema)
        system, user = body["messages"]
        mark = user["content"].splitlines()[0].removeprefix("<<<")
        assert user["content"].endswith(f"\n{mark}>>>")
        assert mark in system["content"]
        assert "facial" not in system["content"]
    first, second = (prompt("extract").messages("x")[1]["content"] for _ in range(2))
    assert first != second


async def test_the_stand_in_says_that_it_is_one_and_wants_its_key() -> None:
    async with ModelStandIn(api_key=KEY) as standin, aiohttp.ClientSession() as session:
        url = f"{standin.base_url}/v1/chat/completions"
        async with session.post(url, json={"model": "little"}) as answer:
            assert answer.headers["X-Messor-Stand-In"] == "model"
            assert answer.status == 401
        headers = {"Authorization": f"Bearer {KEY}"}
        async with session.post(url, json={"model": "little"}, headers=headers) as answer:
            assert answer.status == 400
            assert (await answer.json())["error"]["param"] == "messages"


async def test_the_same_question_is_asked_once(database: Database) -> None:
    async with bench(database) as b:
        first, second = await b.read(), await b.read()
        assert len(b.standin.asked) == 1
        assert second.replies[0].is_cached
        assert second.records == first.records
        await b.read(page(OFFERS.replace("49.90", "59.90")))
        assert len(b.standin.asked) == 2


async def test_the_same_question_at_once_is_asked_once(database: Database) -> None:
    async with bench(database) as b:
        readings = await asyncio.gather(*(b.read() for _ in range(4)))
        assert len(b.standin.asked) == 1
        endings = {reading.replies[0].ending for reading in readings}
        assert endings <= {ReplyStatus.ANSWERED, ReplyStatus.IN_FLIGHT}


@pytest.mark.parametrize(
    "mood, ending",
    [
        (Mood.BAD_JSON, ReplyStatus.BAD_ANSWER),
        (Mood.PROSE, ReplyStatus.BAD_ANSWER),
        (Mood.OTHER_SHAPE, ReplyStatus.BAD_ANSWER),
        (Mood.SILENT_MIND, ReplyStatus.BAD_ANSWER),
        (Mood.USING_TOOLS, ReplyStatus.BAD_ANSWER),
        (Mood.NO_CHOICE, ReplyStatus.BAD_ANSWER),
        (Mood.LOOPING, ReplyStatus.TRUNCATED),
        (Mood.REFUSING, ReplyStatus.REFUSED),
        (Mood.FILTERED, ReplyStatus.REFUSED),
        (Mood.TEXT_TOO_LONG, ReplyStatus.REFUSED),
        (Mood.TEXT_FILTERED, ReplyStatus.REFUSED),
        (Mood.NO_QUOTA, ReplyStatus.REJECTED),
        (Mood.UNKNOWN_MODEL, ReplyStatus.REJECTED),
    ],
)
async def test_a_model_that_makes_no_sense(
    database: Database, mood: Mood, ending: ReplyStatus
) -> None:
    async with bench(database, **PRICED) as b:
        b.standin.mood = mood
        reading = await b.read()
        (reply,) = reading.replies
        assert (reply.ending, reading.records, reading.is_complete) == (ending, [], False)
        assert reply.sentence.startswith("The model")
        (call,) = await b.calls()
        assert (call["ending"], call["answer"]) == (ending, None)
        assert call["tokens"] == b.standin.tokens_counted
        again = (await b.read()).replies[0]
        # What lies in the text is not paid for twice; what lies in the endpoint is.
        assert again.is_cached == (ending is not ReplyStatus.REJECTED)


@pytest.mark.parametrize(
    "failure, ending, wait, is_charged",
    [
        (Failure.UNAUTHORIZED, ReplyStatus.REJECTED, 3600, False),
        (Failure.NO_CREDITS, ReplyStatus.REJECTED, 3600, False),
        (Failure.INVALID, ReplyStatus.REJECTED, 0, False),
        (Failure.REQUEST_TOO_LARGE, ReplyStatus.REFUSED, 0, False),
        (Failure.REDIRECT, ReplyStatus.REJECTED, 0, False),
        (Failure.TOO_MANY, ReplyStatus.OVERLOADED, 60, False),
        (Failure.TOO_MANY_UNTIL, ReplyStatus.OVERLOADED, 90, False),
        (Failure.BUSY, ReplyStatus.OVERLOADED, 5, False),
        (Failure.INTERNAL, ReplyStatus.OVERLOADED, 30, False),
        (Failure.GATEWAY_TIMEOUT, ReplyStatus.OVERLOADED, 30, False),
        (Failure.CUT, ReplyStatus.UNREACHABLE, 0, True),
        (Failure.HUGE, ReplyStatus.BAD_ANSWER, 0, True),
        (Failure.BAD_JSON, ReplyStatus.BAD_ANSWER, 0, True),
        (Failure.DEEP_JSON, ReplyStatus.BAD_ANSWER, 0, True),
        (Failure.NOT_JSON, ReplyStatus.BAD_ANSWER, 0, True),
    ],
)
async def test_an_endpoint_that_fails(
    database: Database, failure: Failure, ending: ReplyStatus, wait: float, is_charged: bool
) -> None:
    async with bench(database, **PRICED) as b:
        b.standin.failure = failure
        (reply,) = (await b.read()).replies
        assert (reply.ending, reply.is_charged) == (ending, is_charged)
        assert reply.wait == pytest.approx(wait, abs=1)
        assert KEY not in reply.sentence
        spent = (await b.used())["month"][1]
        assert (spent > 0) == is_charged
        if wait and failure is not Failure.INTERNAL:  # which may lie in the text
            held = (await b.read()).replies[0]
            assert held.ending is ReplyStatus.LEFT_ALONE
            assert len(b.standin.asked) == 1


def cup(number: int) -> PageView:
    return page(f"<p>Free tea, cup {number}</p>")


@pytest.mark.parametrize("failure", [Failure.INTERNAL, Failure.CUT, Failure.SILENT])
async def test_one_domains_texts_do_not_take_the_model_from_others(
    database: Database, failure: Failure, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def well(*_: object, **__: object) -> health.ServiceHealth:
        return health.ServiceHealth("answers", is_good=True)

    monkeypatch.setattr(health, "standing_of", well)  # it takes other requests
    async with bench(database, timeout=0.2 if failure is Failure.SILENT else 30.0) as b:
        b.standin.failure = failure
        for number in range(2 * FAULTS_IN_A_ROW):
            (reply,) = (await b.read(cup(number))).replies
            assert reply.is_retryable
        assert b.model.breaker.available


async def test_failing_texts_of_many_domains_are_an_outage(database: Database) -> None:
    async with bench(database) as b:
        b.standin.failure = Failure.INTERNAL
        for number in range(FAULTS_IN_A_ROW):
            assert b.model.breaker.available
            await b.read(cup(number), Subject(f"shop{number}.test", "job-1"))
        assert not b.model.breaker.available


async def test_an_endpoint_that_is_not_well_is_left_alone_after_one_domains_texts(
    database: Database,
) -> None:
    async with bench(database) as b:
        b.standin.failure = Failure.INTERNAL  # to an empty request as well
        for number in range(FAULTS_IN_A_ROW):
            await b.read(cup(number))
        assert not b.model.breaker.available
        assert "returned 500" in b.model.breaker.reason


async def test_every_worker_waits_when_the_endpoint_asks_one_to(database: Database) -> None:
    async with bench(database) as b:
        b.standin.failure = Failure.TOO_MANY
        await b.read()
        b.standin.failure = None
        b.model.breaker = Breaker()  # of another process
        (reply,) = (await b.read()).replies
        assert reply.ending is ReplyStatus.LEFT_ALONE
        assert "paused for another" in reply.sentence
        assert 50 < reply.wait <= 60
        assert len(b.standin.asked) == 1


async def test_a_model_that_never_answers_may_have_been_paid(database: Database) -> None:
    async with bench(database, timeout=0.2, **PRICED) as b:
        b.standin.failure = Failure.SILENT
        (reply,) = (await b.read()).replies
        assert (reply.ending, reply.is_retryable) == (ReplyStatus.TIMED_OUT, True)
        assert (await b.used())["month"][2] > 0


async def test_an_endpoint_that_is_not_there_costs_nothing(database: Database) -> None:
    async with bench(database) as b:
        await b.standin.stop()
        (reply,) = (await b.read()).replies
        assert reply.ending is ReplyStatus.UNREACHABLE
        assert (await b.used())["month"][1] == 0


@pytest.mark.parametrize(
    "refuses",
    [
        {"json_schema"},
        {"json_schema", "json_object"},
        {"max_tokens", "temperature"},
        {"json_schema", "json_object", "max_tokens", "temperature"},
    ],
)
async def test_an_endpoint_that_takes_less_is_asked_for_less(
    database: Database, refuses: set[str]
) -> None:
    async with bench(database, ModelStandIn(refuses=frozenset(refuses))) as b:
        assert (await b.read()).is_complete
        asked = len(b.standin.asked)
        assert (await b.read(page("<p>Free tea</p>"))).is_complete
        assert len(b.standin.asked) == asked + 1


@pytest.mark.parametrize("mood", [Mood.FENCED, Mood.THINKING, Mood.IN_PARTS])
async def test_json_in_a_fence_after_thoughts_or_in_parts_is_understood(
    database: Database, mood: Mood
) -> None:
    async with bench(database) as b:
        b.standin.mood = mood
        assert len((await b.read()).records) == 3


@pytest.mark.parametrize("mood", [Mood.TEXT_TOO_LONG, Mood.TEXT_FILTERED])
async def test_texts_that_an_endpoint_will_not_take_say_nothing_of_other_texts(
    database: Database, mood: Mood
) -> None:
    async with bench(database) as b:
        b.standin.mood = mood
        for number in range(FAULTS_IN_A_ROW + 1):
            await b.read(page(f"<p>Free tea {number}</p>"))
        b.standin.mood = None
        assert (await b.read()).is_complete
        assert "max_tokens" in b.standin.asked[-1].body


@pytest.mark.parametrize("mood", [Mood.NO_USAGE, Mood.ABSURD_USAGE])
async def test_tokens_that_are_not_told_count_as_the_most(database: Database, mood: Mood) -> None:
    async with bench(database) as b:
        b.standin.mood = mood
        assert (await b.read()).is_complete
        (call,) = await b.calls()
        assert call["tokens"] > 2_000
        assert (await b.used())["month"][1] == call["tokens"]


async def test_a_call_whose_process_died_is_asked_again_and_stays_paid(database: Database) -> None:
    async with bench(database, timeout=0.2) as b:
        b.standin.failure = Failure.SILENT
        await b.read()
        await database.fetch(
            "UPDATE messor.ai_calls SET ending = 'asked', asked_at = asked_at - interval '1 hour'"
        )
        b.standin.failure = None
        assert (await b.read()).is_complete
        lost, answered = await b.calls()
        assert (lost["ending"], answered["ending"]) == ("lost", "answered")
        assert (await b.used())["month"][1] == lost["tokens"] + answered["tokens"]


async def test_a_page_that_is_forgotten_takes_its_answers_along_and_not_its_cost(
    database: Database,
) -> None:
    async with bench(database) as b:
        await b.read(subject=Subject("spa.test", "job-1", page_id=7))
        spent = await b.used()
        await database.fetch("SELECT messor.forget_pages('{7}', false)")
        assert await b.calls() == []
        assert await b.used() == spent


def test_no_tokeniser_counts_more_than_is_set_aside() -> None:
    for text in ("plain words", "ﷺ" * 50, "日本語のテキスト", "\U0001f600" * 20, "a b c d e f"):
        messages = [{"role": "user", "content": text}]
        assert most_tokens(messages, {}) >= max(count_tokens(text), len(text.encode()))


def test_without_an_address_there_is_no_model_and_without_a_name_a_sentence() -> None:
    given = AiTestSettings(ai_url=None)
    assert model_settings(given) is None
    with pytest.raises(UsageError, match="MESSOR_AI_MODEL"):
        model_settings(AiTestSettings(ai_url="http://127.0.0.1:1/v1"))
    made = model_settings(AiTestSettings(ai_url="http://127.0.0.1:1/v1", ai_model="m"))
    assert made is not None
    assert (made.model, made.month.cost) == ("m", Decimal(10))


class AiTestSettings(Settings):
    ai_url: str | None = None
    ai_key: Any = None
    ai_model: str | None = None
    ai_input_price: Decimal = Decimal(0)
    ai_output_price: Decimal = Decimal(0)
    ai_job_tokens: int | None = 500_000
    ai_domain_tokens: int | None = 5_000_000
    ai_monthly_tokens: int | None = 50_000_000
    ai_job_budget: Decimal | None = None
    ai_domain_budget: Decimal | None = None
    ai_monthly_budget: Decimal | None = Decimal(10)
    ai_output_tokens: int = 2_000
    ai_chunk_chars: int = 12_000
    ai_chunks: int = 4
    ai_timeout: float = 60.0
