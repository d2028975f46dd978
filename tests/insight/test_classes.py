"""Classes: from names, texts, structure and result pages; a reviewer's word stands and teaches."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from messor.errors import NotFoundError, UsageError
from messor.insight import class_features, classes
from messor.insight.class_features import CLASSES, Feature
from messor.insight.classes import judge
from messor.registry import domains as registry
from messor.registry import notes
from messor.schedule.standard import CLASSIFY
from messor.store.database import Database
from tests.insight.making import apply_vertical, make_keyword, make_serp, make_site
from tests.schedule.sites import run_steps

AT = datetime(2026, 6, 1, tzinfo=UTC)
CLINIC = "Our clinic. Book an appointment. Our team of doctors. Opening hours. Contact us."
DIRECTORY = "Find a dentist near you. List your practice in our directory. Claim your listing."


async def class_of(database: Database, domain: str) -> str:
    return str((await classes.show(database, domain))["class"])


def test_the_list_is_well_formed() -> None:
    domains, endings = class_features.known()
    assert set(domains.values()) | set(endings.values()) <= set(CLASSES)
    assert all(name == name.lower().strip() and "." in name for name in domains)
    assert all(end.startswith(".") for end in endings)
    speaks = {name for said in class_features.SPEAKS.values() for name in said}
    assert speaks <= set(CLASSES)


def test_nothing_known_is_unknown() -> None:
    found = judge("a.test", [], {})
    assert (found.name, found.reasons) == ("unknown", ("nothing is known of it",))
    weak = judge("a.org", [Feature("ending:org", "its name ends in .org")], {})
    assert weak.name == "unknown"


FACTS = {
    "serp_keywords": 0, "serp_verticals": 0, "serp_services": 0, "serp_local": False, "pages": 0,
    "page_types": {}, "record_kinds": {}, "organisations": 0, "brands": 0, "text": "", "data_types": [],
}  # fmt: skip


def test_a_name_and_a_stated_type_speak() -> None:
    text = "Opening times | Ashford Borough Council\nWaste, parking and planning."
    facts = {**FACTS, "domain": "ashfordboroughcouncil.test", "text": text}
    council = class_features.features_of({**facts, "data_types": ["GovernmentOffice"]})
    assert {"called:government", "data:GovernmentOrganization"} <= {one.name for one in council}
    assert judge("ashfordboroughcouncil.test", council, {}).name == "government"
    dentist = class_features.features_of(
        {**FACTS, "domain": "bright.test", "data_types": ["Dentist", "WebSite"]}
    )
    assert [one.name for one in dentist] == ["data:LocalBusiness"]
    assert dentist[0].sentence == "its structured data states Dentist"


def test_more_that_is_said_speaks_louder() -> None:
    few, many = (
        class_features.features_of({**FACTS, "domain": "a.test", "text": text})
        for text in ("A forum.", "A forum: topics, threads, replies, moderators.")
    )
    assert judge("a.test", few, {}).confidence < judge("a.test", many, {}).confidence
    assert judge("a.test", many, {}).name == "forum"


async def test_sites_are_told_apart(database: Database) -> None:
    clinic = await make_site(database, "clinic.test")
    await clinic.page(CLINIC, data=[{"@type": "LocalBusiness"}], page_type="home")
    directory = await make_site(database, "list.test")
    page = await directory.page(DIRECTORY, page_type="home")
    for number in range(6):
        await directory.page(f"listing {number}", page_type="listing")
        await directory.record(page, "organisation", name=f"Practice {number}")
    news = await make_site(database, "daily.test")
    await news.page("Breaking news and latest headlines", data={"@type": "NewsMediaOrganization"})
    parked = await make_site(database, "parked.test")
    await parked.page("This domain is for sale. Buy this domain today.")
    await make_site(database, "silent.test")
    await make_site(database, "health.gov.sg")
    assert (await run_steps(database, CLASSIFY))["domains_classified"] == 6
    found = {
        row["domain"]: row["domain_class"]
        for row in await database.fetch("SELECT domain, domain_class FROM messor.domains")
    }
    assert found == {
        "clinic.test": "business", "list.test": "directory", "daily.test": "news",
        "parked.test": "parked", "silent.test": "unknown", "health.gov.sg": "government",
    }  # fmt: skip
    shown = await classes.show(database, "list.test")
    assert shown["confidence"] > 0.8
    assert any("6 different organisations" in reason for reason in shown["reasons"])
    assert "domains_classified" in await run_steps(database, CLASSIFY)
    assert (await run_steps(database, CLASSIFY))["domains_classified"] == 0


async def test_domains_of_results_alone_are_classified(database: Database) -> None:
    applied = await apply_vertical(database)
    for number in range(5):
        keyword = await make_keyword(database, applied, f"k{number}", "A", f"service {number}")
        results = [(1, "organic", "yelp.com"), (2, "organic", "wide.test")]
        local = [(1, "local_pack", "near.test"), (3, "organic", "near.test")] if not number else []
        await make_serp(database, keyword, AT, results + local)
    async with database.transaction() as connection:
        assert await classes.classify_waiting(connection) == 3
    assert await class_of(database, "yelp.com") == "directory"
    assert await class_of(database, "near.test") == "business"
    wide = await classes.show(database, "wide.test")
    assert wide["class"] in {"directory", "unknown"}
    assert await database.fetchval("SELECT count(*) FROM messor.domains") == 0


async def test_a_reviewers_word_stands_and_teaches(database: Database) -> None:
    text = "Stories from the valley, told weekly."
    names = [f"v{n}.test" for n in range(8)]
    for name in names:
        site = await make_site(database, name)
        await site.page(text, page_type="home", data={"@type": "ItemList"})
    async with database.transaction() as connection:
        await classes.classify(connection, names)
    assert await class_of(database, "v0.test") == "unknown"
    async with database.transaction() as connection:
        for name in names[:6]:
            await classes.override(connection, name, "news", actor="rita", reason="a weekly")
        await classes.classify(connection, names)
    assert await class_of(database, "v7.test") == "news"
    shown = await classes.show(database, "v0.test")
    assert (shown["class"], shown["confidence"], shown["reckoned"]) == ("news", 1.0, "unknown")
    assert shown["reasons"] == ["decided by rita: a weekly"]
    # Changing one's mind takes the lesson back.
    async with database.transaction() as connection:
        for name in names[:6]:
            await classes.override(connection, name, "business", actor="rita")
    lessons = await database.fetch(
        "SELECT class, max(domains) FROM messor.class_lessons GROUP BY 1"
    )
    assert dict(map(tuple, lessons)) == {"news": 0, "business": 6}
    with pytest.raises(UsageError, match="Unknown class 'pretty'"):
        async with database.transaction() as connection:
            await classes.override(connection, "v0.test", "pretty", actor="rita")
    with pytest.raises(NotFoundError, match="no class yet"):
        await classes.show(database, "other.test")


async def test_what_a_person_said_in_the_registry_stands(database: Database) -> None:
    site = await make_site(database, "clinic.test")
    await site.page(CLINIC)
    async with database.transaction() as connection:
        known = await registry.get(connection, "clinic.test")
        await notes.classify(connection, known, "nonprofit", actor="rita")
        await classes.classify(connection, ["clinic.test"])
    assert await class_of(database, "clinic.test") == "business"
    domain = await registry.get(database, "clinic.test")
    assert domain.domain_class == "nonprofit"
