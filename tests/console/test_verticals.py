"""Verticals in the console: shown, previewed, applied, exported; their organisations."""

from __future__ import annotations

import pytest

from messor.access.roles import Role
from messor.store.database import Database
from messor.verticals import files, verticals
from tests.console.conftest import Enter, Visitor
from tests.console.found import seed
from tests.insight.making import apply_vertical

MOST_QUERIES = 12
NOW = files.shipped("wellness").vertical.version


async def test_no_page_of_discovery_asks_for_much(admin: Visitor, database: Database) -> None:
    """Each is there, has something on it, and is made of a dozen questions at most."""
    found = await seed(database)
    for path in found.paths:
        asked = [await _queries(admin, database, path) for _ in range(2)]
        assert min(asked) <= MOST_QUERIES, (
            path
        )  # figures that are shared are refreshed now and then


async def _queries(admin: Visitor, database: Database, path: str) -> int:
    before = database.round_trips
    page = await admin.get(path)
    assert page.status == 200, f"{path}: {page.said[-1000:]}"
    return database.round_trips - before


async def test_every_page_says_what_comes_when_there_is_nothing(admin: Visitor) -> None:
    for path in (
        "/keywords", "/keywords/generate", "/keywords/expand", "/keywords/tiers", "/serps",
        "/serps/pages", "/serps/domains/a.org", "/discovery", "/scores", "/scores/simulate",
        "/scores/calibration",
    ):  # fmt: skip
        page = await admin.get(path)
        assert (page.status, "No vertical is applied" in page.said) == (200, True), path
    assert "Apply one of the bundled verticals below" in (await admin.get("/verticals")).said
    assert "No candidates to review" in (await admin.get("/candidates?status=waiting")).said


async def test_pages_are_short_of_data_and_still_stand(admin: Visitor, database: Database) -> None:
    """A vertical in force, and nothing else yet."""
    await apply_vertical(database)
    for path in (
        "/verticals/wellness", "/keywords", "/keywords/generate", "/keywords/expand",
        "/keywords/tiers", "/serps", "/serps/pages", "/serps/domains/a.org", "/discovery",
        "/candidates", "/scores", "/scores/simulate?cost=1", "/scores/calibration",
    ):  # fmt: skip
        assert (await admin.get(path)).status == 200, path


async def test_a_shipped_one_is_put_in_force(reviewer: Visitor, database: Database) -> None:
    page = await reviewer.get("/verticals")
    assert "Wellness clinics" in page.said
    answer = await reviewer.send("/verticals", "/verticals", {"name": "wellness", "act": "apply"})
    assert answer.place == "/verticals/wellness"
    shown = await reviewer.get(answer.place)
    for words in (f"Published wellness version {NOW}", "botox", "{service} near {geo}", "tanjong pagar",
                  "domain credibility", "record yield", "quarterly", "sg-orchard-mobile"):  # fmt: skip
        assert words in shown.said, words
    assert (await verticals.get(database, "wellness")).vertical.version == NOW


async def test_a_file_is_previewed_before_it_is_applied(
    reviewer: Visitor, database: Database
) -> None:
    await apply_vertical(database)
    source = files.shipped("wellness").source
    changed = source.replace(f"version = {NOW}", f"version = {NOW + 1}", 1).replace(
        '"flu jab"', '"jab"'
    )
    form = {"source": changed, "act": "preview"}
    page = await reviewer.send("/verticals/new", "/verticals", form)
    assert page.status == 200
    assert "~ services.travel vaccination.synonyms" in page.said
    assert "Publish" in page.said
    assert (await verticals.get(database, "wellness")).vertical.version == NOW
    await reviewer.send("/verticals/new", "/verticals", {"source": changed, "act": "apply"})
    assert (await verticals.get(database, "wellness")).vertical.version == NOW + 1
    exported = await reviewer.get("/verticals/wellness/file")
    assert exported.text == changed
    assert exported.headers["Content-Type"].startswith("text/plain")


@pytest.mark.parametrize(
    "source, said",
    [
        ("", "Choose a file"),
        ("name = ", "is not valid TOML"),
        ("name = 'x'\n[scoring]\n", "key"),
        ("<script>alert(1)</script>", "is not valid TOML"),
    ],
)
async def test_what_is_wrong_with_a_file_is_said(reviewer: Visitor, source: str, said: str) -> None:
    page = await reviewer.send("/verticals/new", "/verticals", {"source": source, "act": "apply"})
    assert page.status == 422
    assert said in page.said
    assert "<script>alert(1)" not in page.text


async def test_the_same_version_with_other_words_is_refused(
    reviewer: Visitor, database: Database
) -> None:
    await apply_vertical(database)
    changed = files.shipped("wellness").source.replace('"flu jab"', '"jab"')
    page = await reviewer.send("/verticals/new", "/verticals", {"source": changed, "act": "apply"})
    assert page.status == 422
    assert "give the file a higher version" in page.said


async def test_organisations_are_taken_line_by_line(reviewer: Visitor, database: Database) -> None:
    await apply_vertical(database)
    path = "/verticals/wellness/organisations"
    good = "name,domains,location\nGlow,glow.test;glow.example,Orchard\n"
    answer = await reviewer.send(path, path, {"lines": good})
    assert answer.place == path
    page = await reviewer.get(path)
    for words in ("1 created", "Glow", "glow.test", "Orchard"):
        assert words in page.said, words
    bad = "name,domains\nOther,glow.test\nThird,third.test\n"
    refused = await reviewer.send(path, path, {"lines": bad})
    assert refused.status == 422
    assert "glow.test already belongs to Glow" in refused.said
    assert "Third" in (await reviewer.get(path)).said, "a bad line keeps no other from being taken"


async def test_viewers_read_and_change_nothing(
    console: str, enter: Enter, database: Database
) -> None:
    found = await seed(database, weeks=2)
    viewer = await enter(console, Role.VIEWER)
    for path in found.paths:
        page = await viewer.get(path)
        if path == "/verticals/new":
            assert page.status == 403
            continue
        assert page.status == 200, path
        main = page.text.partition("<main")[2]
        assert 'method="post"' not in main, path
