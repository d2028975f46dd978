"""One page: timeline, snapshots, differences and the explanation of its crawl decision."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import Any

from starlette.responses import Response

from messor.access.roles import Act
from messor.archive import queries, snapshot_content
from messor.archive.queries import SNAPSHOTS, KeptSnapshot, SnapshotFilter
from messor.archive.storage import Archive
from messor.console import differences, markdown
from messor.console.addresses import within
from messor.console.call import ConsoleRequest
from messor.console.screens import get, post
from messor.errors import NotFoundError, UsageError
from messor.explain import why
from messor.explain.why import Explanation
from messor.frontier import control
from messor.frontier.control import Scope
from messor.ops import page_story
from messor.ops.page_story import LARGEST, PageFacts
from messor.parsers.page_parts import ContentParts, parts_of

MAX_SHOWN = 100_000  # characters of a snapshot rendered
MAX_COMPARED = 300_000
MAX_LISTED = 100  # snapshots
ACTOR = re.compile(r"\b(?:member|key):[0-9a-f-]{36}\b")  # as actors appear in sentences


async def show(call: ConsoleRequest) -> Response:
    database, found = call.context.database, await _found(call)
    return await call.page(
        "page/story.html",
        page=found,
        moments=await page_story.moments(database, found.id),
        snapshots=await _snapshots(call, found),
    )


async def show_snapshot(call: ConsoleRequest) -> Response:
    """A snapshot's Markdown, rendered, raw with `as=text`, or `as=parts`: within what was left out."""
    database, found = call.context.database, await _found(call)
    chosen = await queries.snapshot(database, min(call.number("snapshot_id"), LARGEST))
    if chosen.page_id != found.id:
        raise NotFoundError("This page has no such snapshot.")
    text = await page_story.text(database, found.id, chosen.id, MAX_SHOWN)
    shown = call.query("as")
    is_text = shown == "text"
    parts = await _parts(call, found, chosen) if shown == "parts" else None
    reading = (
        ""
        if is_text or parts
        else await asyncio.to_thread(markdown.render, text.markdown, found.url)
    )
    return await call.page(
        "page/snapshot.html",
        page=found,
        snapshots=await _snapshots(call, found),
        chosen=chosen,
        text=text,
        reading=reading,
        is_text=is_text,
        parts=parts,
    )


async def _parts(call: ConsoleRequest, found: PageFacts, chosen: KeptSnapshot) -> ContentParts:
    """What of the archived page was taken as its content."""
    place = await snapshot_content.record_place(call.context.database, chosen.id)
    folder = Archive.of(call.context.settings)
    body = await asyncio.to_thread(snapshot_content.read_body, folder, *place)
    return await asyncio.to_thread(parts_of, body, chosen.content_type, found.url)


async def show_difference(call: ConsoleRequest) -> Response:
    """Differences between two snapshots, older first."""
    database, found = call.context.database, await _found(call)
    older, newer = _id(call, "older"), _id(call, "newer")
    before = await page_story.text(database, found.id, older, MAX_COMPARED)
    after = await page_story.text(database, found.id, newer, MAX_COMPARED)
    difference = await asyncio.to_thread(differences.compare, before.markdown, after.markdown)
    return await call.page(
        "page/difference.html",
        page=found,
        snapshots=await _snapshots(call, found),
        older=older,
        newer=newer,
        difference=difference,
        is_cut=difference.is_cut or before.is_cut or after.is_cut,
    )


async def show_why(call: ConsoleRequest) -> Response:
    found = await _found(call)
    explained = await _explain(call, found.url)
    return await call.page(
        "page/why.html", page=found, explained=explained, url=found.url, wrong=None
    )


async def explain(call: ConsoleRequest) -> Response:
    """The same for any URL, known or not."""
    url = call.query("url").strip()
    values: dict[str, Any] = {"page": None, "explained": None, "url": url, "wrong": None}
    if url:
        try:
            values["explained"] = await _explain(call, url)
        except UsageError as error:
            values["wrong"] = str(error)
    return await call.page("page/why.html", status=422 if values["wrong"] else 200, **values)


async def _explain(call: ConsoleRequest, url: str) -> Explanation:
    """The decision chain, with actor ids replaced by names."""
    explained = await why.explain(call.context.database, call.context.settings, url)
    actors = {actor for fact in explained.facts for actor in ACTOR.findall(fact.sentence)}
    names = await call.names(actors)
    facts = [
        replace(
            fact, sentence=ACTOR.sub(lambda actor: names.get(actor[0], actor[0]), fact.sentence)
        )
        for fact in explained.facts
    ]
    return replace(explained, facts=facts)


async def recrawl(call: ConsoleRequest) -> Response:
    found = await _found(call)
    scope = await Scope.url(call.context.database, found.url)
    done = await control.act(call.context.database, "recrawl", scope, actor=call.actor)
    message = "The page is due now." if done.tasks else "The page is already due."
    return call.go(within(call.form.text("back"), f"/pages/{found.id}"), message)


async def _found(call: ConsoleRequest) -> PageFacts:
    return await page_story.page(call.context.database, call.number("page_id"))


async def _snapshots(call: ConsoleRequest, found: PageFacts) -> list[KeptSnapshot]:
    """The newest snapshots of a page."""
    wanted = SnapshotFilter(page_id=found.id)
    return (await SNAPSHOTS.read(call.context.database, wanted, limit=MAX_LISTED)).items


def _id(call: ConsoleRequest, name: str) -> int:
    typed = call.query(name)
    if not typed.isdecimal() or len(typed) > 18:
        raise UsageError("Select two snapshots to compare.")
    return int(typed)


SCREENS = (
    get("/pages/{page_id:int}", Act.READ, show),
    get("/pages/{page_id:int}/snapshots/{snapshot_id:int}", Act.READ, show_snapshot),
    get("/pages/{page_id:int}/difference", Act.READ, show_difference),
    get("/pages/{page_id:int}/why", Act.READ, show_why),
    get("/why", Act.READ, explain),
    post("/pages/{page_id:int}/recrawl", Act.CRAWL_CONTROL, recrawl),
)
