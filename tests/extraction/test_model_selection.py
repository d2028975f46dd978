"""Pages put to a model and judged for verticals, from the crawl to the record, with a stand-in."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from messor.ai.model import Model
from messor.ai.options import model_settings
from messor.extraction.extract import Extractor
from messor.extraction.model_jobs import ModelJobs
from messor.extraction.model_selection import JOB_TYPE, asking_plan
from messor.extraction.model_worker import ModelWorker
from messor.extraction.reader_pool import ReaderPool
from messor.settings import Settings
from messor.store.database import Connection, Database
from messor.verticals import files, organisations, verticals
from messor.verticals.organisations import NewOrganisation
from simweb import SimResponse
from simweb.documents import HTML
from simweb.services.model import ModelStandIn, Mood
from simweb.services.standin import Failure
from tests.ai.ai_bench import OFFERS
from tests.content.injected_pages import STYLE, injected_pages
from tests.crawling import admit, crawl, later
from tests.little_web import LittleWeb

SPA = "spa.example"
KEY = "sk-of-the-test"
TOPICAL = (
    "Our clinic offers treatments for patients: dermatology, laser, facial and massage therapy. "
    "The doctor sees patients for a consultation by appointment. "
)
# Parsers do not take it for one.
OFFER = "The autumn offer is a facial at \u20ac49.90"


def document(*lines: str, title: str = "Skin clinic and laser treatments") -> SimResponse:
    body = "".join(f"<p>{line}</p>" for line in lines)
    text = f"<!doctype html><html lang=en><title>{title}</title><h1>{title}</h1>{body}</html>"
    return SimResponse(200, (("Content-Type", HTML),), text.encode())


def injected(body: str) -> SimResponse:
    text = (
        f"<!doctype html><html lang=en><head><title>Skin clinic</title>{STYLE}</head>"
        f"<body><h1>Skin clinic treatments</h1><p>{TOPICAL}</p>{body}</body></html>"
    )
    return SimResponse(200, (("Content-Type", HTML),), text.encode())


@dataclass
class Bench:
    """A clinic's site, a model, and all between them."""

    web: LittleWeb
    settings: Settings
    dsn: str
    readers: ReaderPool
    standin: ModelStandIn
    hours: int = 0

    def opened(self) -> Database:
        return Database(later(self.dsn, timedelta(hours=self.hours)), pool_size=6)

    async def crawl(self) -> None:
        self.hours += 48
        async with self.opened() as database:
            await crawl(self.settings, database)

    async def extract(self, **changed: Any) -> dict[str, int]:
        """Everything that `messor extract --once` does; answers how jobs ended."""
        settings = self.settings.model_copy(update=changed)
        async with self.opened() as database:
            archive = settings.data_dir / "archive"
            found = model_settings(settings)
            model = Model(found, database) if found else None
            plan = asking_plan(settings)
            await Extractor(database, archive, self.readers, plan=plan).run()
            asker = ModelWorker(database, ModelJobs(database, archive, self.readers, model))
            await asker.run(follow=False)
            if model is not None:
                await model.close()
            return dict(asker.outcomes)

    async def rows(self, sql: str) -> list[dict[str, Any]]:
        async with self.opened() as database:
            return [dict(row) for row in await database.fetch(sql)]

    async def records(self) -> list[dict[str, Any]]:
        """Offers that a model found and that stand."""
        return await self.rows(
            "SELECT * FROM messor.records WHERE parser = 'ai' AND kind = 'offer'"
            " AND state = 'current' ORDER BY id"
        )

    async def jobs(self) -> list[dict[str, Any]]:
        return await self.rows(
            f"SELECT * FROM messor.jobs WHERE job_type = '{JOB_TYPE}' ORDER BY created_at, id"
        )

    def set(self, answer: SimResponse) -> None:
        self.web.houses[SPA].rooms["/"] = answer


async def own(connection: Connection, domain: str = SPA, vertical: str = "wellness") -> None:
    applied, _ = await verticals.apply(connection, files.shipped(vertical), actor="ann")
    await organisations.put(
        connection, applied, NewOrganisation.understand(f"Owner of {domain}", [domain]), actor="ann"
    )


@asynccontextmanager
async def opened_bench(
    folder: Path, dsn: str, home: SimResponse, **rooms: SimResponse
) -> AsyncIterator[Bench]:
    standin = ModelStandIn(api_key=KEY)
    async with LittleWeb(folder, {SPA: {"/": home, **rooms}}) as web, standin:
        settings = web.settings(
            ai_url=f"{standin.base_url}/v1", ai_key=KEY, ai_model="little", ai_timeout=60.0
        )
        readers = ReaderPool(1, seconds=60)
        async with Database(dsn) as database:
            await admit(database, f"http://{SPA}/")
            async with database.transaction() as connection:
                await own(connection)
        try:
            yield Bench(web, settings, dsn, readers, standin)
        finally:
            await readers.close()


async def test_a_model_is_not_asked_for_kinds_that_are_not_read(tmp_path: Path, dsn: str) -> None:
    async with opened_bench(tmp_path, dsn, document(TOPICAL, OFFER)) as b:
        await b.crawl()
        await b.extract(record_kinds=["faq"])
        assert await b.records() == []


async def test_a_models_records_are_marked_proved_and_follow_the_page(
    tmp_path: Path, dsn: str
) -> None:
    async with opened_bench(tmp_path, dsn, document(TOPICAL, OFFER)) as b:
        await b.crawl()
        assert await b.extract() == {"done": 1}
        (offer,) = await b.records()
        assert offer["parser_version"] == "extract-1:little"
        fields = json.loads(offer["fields"])
        assert fields["price"]["evidence"]["quote"] == "\u20ac49.90"
        assert fields["price"]["evidence"]["path"] == "model"
        told = await b.rows(
            "SELECT data->>'method' AS method FROM messor.events"
            " WHERE type = 'extraction.completed' ORDER BY id"
        )
        assert told[-1]["method"] == "model"
        (call,) = await b.rows("SELECT * FROM messor.ai_calls")
        assert call["ending"] == "answered"
        assert call["purpose"].startswith("extract:")
        # Nothing changed: nobody is asked.
        await b.crawl()
        assert await b.extract() == {}
        # The page says something else: the record goes as soon as the model has said so.
        b.set(document(TOPICAL, "Free parking for everybody"))
        await b.crawl()
        assert await b.extract() == {"done": 1}
        heads = [json.loads(each["data"])["title"] for each in await b.records()]
        assert "Free parking for everybody" in heads
        assert OFFER not in heads
        (gone,) = await b.rows(f"SELECT state FROM messor.records WHERE id = {offer['id']}")
        assert gone["state"] == "removed"


async def test_an_ending_without_an_answer_takes_nothing_away(tmp_path: Path, dsn: str) -> None:
    async with opened_bench(tmp_path, dsn, document(TOPICAL, OFFER)) as b:
        await b.crawl()
        await b.extract()
        before = await b.records()
        assert before
        others = await b.rows("SELECT id FROM messor.records WHERE parser <> 'ai' ORDER BY id")
        # The offer stays, the page around it changes, and the model cannot be had.
        b.standin.failure = Failure.BUSY
        b.set(document(TOPICAL, OFFER, "We moved to new rooms."))
        await b.crawl()
        assert await b.extract() == {"queued": 1}
        kept = await b.records()
        assert [each["id"] for each in kept] == [each["id"] for each in before]
        assert kept[0]["snapshot_id"] > before[0]["snapshot_id"]
        still = await b.rows("SELECT id FROM messor.records WHERE parser <> 'ai' ORDER BY id")
        assert still == others
        *_, job = await b.jobs()
        assert (job["state"], job["attempts"]) == ("queued", 1)
        # Later it can.
        b.standin.failure = None
        b.hours += 2
        assert await b.extract() == {"done": 1}


async def test_bad_answers_are_told_and_not_asked_again(tmp_path: Path, dsn: str) -> None:
    async with opened_bench(tmp_path, dsn, document(TOPICAL, OFFER)) as b:
        await b.crawl()
        b.standin.mood = Mood.BAD_JSON
        assert await b.extract() == {"done": 1}
        assert await b.records() == []
        (fault,) = await b.rows(
            "SELECT error_type, error_message FROM messor.error_logs WHERE category = 'validation'"
        )
        assert fault["error_type"] == "ModelBadAnswer"
        assert "JSON" in fault["error_message"]
        (job,) = await b.jobs()
        assert json.loads(job["result_json"])["endings"] == {"bad_answer": 1}


async def test_a_wrong_key_ends_in_a_dead_letter_with_its_reason(tmp_path: Path, dsn: str) -> None:
    async with opened_bench(tmp_path, dsn, document(TOPICAL, OFFER)) as b:
        await b.crawl()
        b.standin.failure = Failure.UNAUTHORIZED
        assert await b.extract() == {"dead": 1}
        (job,) = await b.jobs()
        assert "401" in job["dead_reason"] or "key" in job["dead_reason"]
        assert await b.records() == []


async def test_caps_hold_and_say_so(tmp_path: Path, dsn: str) -> None:
    async with opened_bench(tmp_path, dsn, document(TOPICAL, OFFER)) as b:
        await b.crawl()
        assert await b.extract(ai_domain_tokens=100) == {"done": 1}
        assert b.standin.asked == []
        (job,) = await b.jobs()
        result = json.loads(job["result_json"])
        assert result["endings"] == {"over_cap": 1}
        assert "100 tokens" in result["messages"][0]


async def test_pages_that_order_about_change_nothing(tmp_path: Path, dsn: str) -> None:
    """FAULTS L1: what is hidden, or speaks to a machine, neither reaches the model nor the records."""
    bodies = [OFFERS, *injected_pages()]
    rooms = {f"/{number}": injected(body) for number, body in enumerate(bodies)}
    links = "".join(f'<a href="{path}">{path}</a> ' for path in rooms)
    async with opened_bench(tmp_path, dsn, document(links, title="Map"), **rooms) as b:
        await b.crawl()
        done = (await b.extract())["done"]
        b.hours += 1  # the same question is not put twice at a time: some wait for another's answer
        done += (await b.extract()).get("done", 0)
        assert done == len(bodies)
        assert b.standin.obeyed == 0
        said = await b.rows(
            """SELECT p.url, array_agg(r.data::text ORDER BY r.data::text) AS said
                 FROM messor.records r JOIN messor.pages p ON p.id = r.page_id
                WHERE r.parser = 'ai' GROUP BY p.url"""
        )
        assert len(said) == len(bodies)
        assert len({tuple(each["said"]) for each in said}) == 1
        assert "CANARY" not in str(said)


async def test_what_the_page_does_not_say_is_kept_as_unverified_only(
    tmp_path: Path, dsn: str
) -> None:
    def mind(text: str, schema: dict[str, Any]) -> Any:
        made: dict[str, Any] = {name: [] for name in schema["properties"]}
        fields = schema["properties"]["offer"]["items"]["properties"]
        made["offer"] = [dict.fromkeys(fields) | {"title": "A free car for everybody"}]
        return made

    async with opened_bench(tmp_path, dsn, document(TOPICAL, OFFER)) as b:
        b.standin._mind = mind
        await b.crawl()
        assert await b.extract() == {"done": 1}
        assert await b.records() == []
        (call,) = await b.rows("SELECT unverified FROM messor.ai_calls")
        assert "A free car" in call["unverified"]
        (job,) = await b.jobs()
        assert json.loads(job["result_json"])["unverified"] > 0


async def test_without_a_model_its_records_stand_while_the_page_holds_them(
    tmp_path: Path, dsn: str
) -> None:
    async with opened_bench(tmp_path, dsn, document(TOPICAL, OFFER)) as b:
        await b.crawl()
        await b.extract()
        (offer,) = await b.records()
        b.set(document(TOPICAL, OFFER, "New rooms."))
        await b.crawl()
        assert await b.extract(ai_url=None) == {"done": 1}
        assert [each["id"] for each in await b.records()] == [offer["id"]]
        b.set(document(TOPICAL, "New rooms only."))
        await b.crawl()
        assert await b.extract(ai_url=None) == {"done": 1}
        assert await b.records() == []


async def test_a_page_that_changed_meanwhile_is_not_written_over(tmp_path: Path, dsn: str) -> None:
    async with opened_bench(tmp_path, dsn, document(TOPICAL, OFFER)) as b:
        await b.crawl()
        async with b.opened() as database:
            archive = b.settings.data_dir / "archive"
            plan = asking_plan(b.settings)
            await Extractor(database, archive, b.readers, plan=plan).run()
        b.set(document(TOPICAL, "Free parking for everybody"))
        await b.crawl()
        assert await b.extract() == {"done": 2}
        results = [json.loads(job["result_json"]) for job in await b.jobs()]
        assert sum("outdated" in result for result in results) == 1
        heads = [json.loads(each["data"])["title"] for each in await b.records()]
        assert heads == ["Free parking for everybody"]


async def test_a_page_that_refuses_ai_input_is_not_given_to_a_model(
    tmp_path: Path, dsn: str
) -> None:
    home = document(TOPICAL, OFFER)
    refusing = SimResponse(200, (*home.headers, ("Content-Signal", "ai-input=no")), home.body)
    async with opened_bench(tmp_path, dsn, refusing) as b:
        await b.crawl()
        await b.extract()
        assert await b.records() == []
        assert await b.rows("SELECT FROM messor.ai_calls") == []
        (held,) = await b.rows("SELECT purpose, use, reason, place FROM messor.use_refusals")
        assert held == {
            "purpose": "model",
            "use": "ai-input",
            "reason": "refused",
            "place": "header Content-Signal",
        }
        (job,) = await b.jobs()
        assert "messor rights held" in str(job["result_json"])
        # The site changes its mind, and the page.
        b.set(document(TOPICAL, OFFER, "Open on Sundays"))
        await b.crawl()
        await b.extract()
        assert len(await b.records()) == 1
