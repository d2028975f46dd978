"""Flags over the API: listed, confirmed and overturned; and unproductive pages."""

from __future__ import annotations

from dataclasses import replace

import httpx
import pytest

from messor.access.roles import Role
from messor.insight.relevance import store
from messor.insight.relevance.topics import topic_named
from messor.store.database import Database
from messor.verticals import files, verticals
from tests.api.conftest import AsRole, problem
from tests.crawling import admit
from tests.insight.test_relevance_store import SEEN, new_page

V = "/api/v1"
FLAGS = f"{V}/verticals/funding/flags"


@pytest.fixture
async def pages(database: Database) -> list[int]:
    """Two flagged pages of a funder: a relevant one, and one that is undecided."""
    domain = await admit(database, "https://a.test/")
    found = [await new_page(database, domain.id, name) for name in ("grants", "about")]
    async with database.transaction() as connection:
        await verticals.apply(connection, files.shipped("funding"), actor="ann")
        topic = await topic_named(connection, "funding")
        await store.keep_flag(connection, topic, found[0], None, SEEN)
        undecided = replace(SEEN, relevant=None, score=0.5)
        await store.keep_flag(connection, topic, found[1], None, undecided)
    return found


async def test_flags_are_listed_and_reviewed(as_role: AsRole, pages: list[int]) -> None:
    reviewer = await as_role(Role.REVIEWER)
    listed = (await reviewer.get(FLAGS)).json()["items"]
    assert [flag["page_id"] for flag in listed] == [pages[1], pages[0]], "the least certain first"
    assert (listed[0]["relevant"], listed[0]["domain"]) == (None, "a.test")
    done = await reviewer.post(f"{FLAGS}/{pages[0]}/review", json={"act": "overturn"})
    assert done.json()["relevant"] is False
    assert done.json()["overturned"] is True
    path = f"{FLAGS}/{pages[1]}/review"
    problem(await reviewer.post(path, json={"act": "confirm"}), 422, "usage")
    done = await reviewer.post(path, json={"act": "confirm", "relevant": True, "reason": "grants"})
    assert done.json()["relevant"] is True
    one = (await reviewer.get(FLAGS, params={"state": "irrelevant"})).json()["items"]
    assert [flag["page_id"] for flag in one] == [pages[0]]
    assert (await reviewer.get(FLAGS, params={"reviewed": False})).json()["items"] == []


async def test_who_may_not_and_what_is_not_there(as_role: AsRole, pages: list[int]) -> None:
    viewer, reviewer = await as_role(Role.VIEWER), await as_role(Role.REVIEWER)
    path = f"{FLAGS}/{pages[0]}/review"
    assert (await viewer.post(path, json={"act": "confirm"})).status_code == 403
    assert len((await viewer.get(FLAGS)).json()["items"]) == 2
    problem(await viewer.get(f"{V}/verticals/cooking/flags"), 404, "not_found")
    missing = await reviewer.post(f"{FLAGS}/99999/review", json={"act": "confirm"})
    problem(missing, 404, "not_found")


async def test_unproductive_pages(as_role: AsRole, pages: list[int]) -> None:
    viewer: httpx.AsyncClient = await as_role(Role.VIEWER)
    found = (await viewer.get(f"{V}/unproductive-pages")).json()["items"]
    assert [page["page_id"] for page in found] == pages
    other = await viewer.get(f"{V}/unproductive-pages", params={"domain": "b.test"})
    assert other.json()["items"] == []
