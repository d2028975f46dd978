"""Access requests: what is held on a person is found wherever it is, handed over, and erased."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from messor.access import members
from messor.access.principal import LOCAL_ADMIN
from messor.access.roles import Role
from messor.errors import UsageError
from messor.governance import person_data
from messor.ledger import errors
from messor.ledger.errors import LoggedError
from messor.ledger.events import Event, record
from messor.settings import Settings
from messor.store.database import Database
from simweb.answers import SimResponse
from simweb.documents import HTML
from tests.api.conftest import api_over, client_of, key_of
from tests.crawling import admit, crawl
from tests.harvested import WORDS
from tests.little_web import LittleWeb

JANE = "jane@people.example"
NAME = "Jane O'Doe"
NAMES = [JANE, NAME]
SITE = "clinic.test"


@pytest.fixture
async def held(database: Database, tmp_path: Path) -> AsyncIterator[Settings]:
    """Jane is a member, wrote events, waits for mail, and is named on a page and in a log."""
    body = f"<!doctype html><html lang=en><title>Team</title><h1>{NAME}</h1><p>{WORDS * 6}</p>"
    other = f"<!doctype html><html lang=en><title>Home</title><a href=/team>t</a><p>{WORDS * 6}</p>"
    rooms = {
        "/": SimResponse(200, (("Content-Type", HTML),), other.encode()),
        "/team": SimResponse(200, (("Content-Type", HTML),), body.encode()),
    }
    async with LittleWeb(tmp_path, {SITE: rooms}) as web:
        settings = web.settings()
        await admit(database, f"http://{SITE}/")
        await crawl(settings, database)
        async with database.transaction() as connection:
            for email, name, role in (
                (JANE, NAME, Role.REVIEWER),
                ("ann@x.example", "Ann", Role.ADMIN),
            ):
                made = await members.create(
                    connection, email=email, name=name, role=role, by=LOCAL_ADMIN
                )
                if email == JANE:
                    facts = [Event("domain.noted", f"member:{made.id}", data={"note": "call back"})]
                    await record(connection, facts)
            await connection.execute(
                """INSERT INTO messor.mails (id, kind, recipient, subject, body, state)
                   VALUES (gen_random_uuid(), 'notice', $1, 'Approved', 'Dear Jane', 'manual')""",
                JANE,
            )
            fault = LoggedError("internal", "ValueError", f"no letter for {JANE}", None)
            await errors.log(connection, [fault])
        yield settings


async def places(database: Database) -> set[str]:
    return {one.table for one in (await person_data.find(database, NAMES, actor="ann")).places}


async def test_a_person_is_found_in_every_table_and_text(
    held: Settings, database: Database
) -> None:
    found = await person_data.find(database, [f" {JANE.upper()} ", NAME], actor="ann")
    tables = {one.table for one in found.places}
    assert {"members", "events", "mails", "error_logs"} <= tables
    assert found.pages == [f"http://{SITE}/team"]
    # A table of tomorrow is not forgotten either.
    await database.fetch("CREATE TABLE messor.guests (id int, card jsonb)")
    await database.fetch(
        "INSERT INTO messor.guests VALUES (1, jsonb_build_object('to', $1::text))", JANE
    )
    assert "guests" in await places(database)
    for wrong in ([], ["  "], ["ab"], ["abc"] * 3 + [str(n) * 4 for n in range(30)]):
        with pytest.raises(UsageError):
            await person_data.find(database, wrong, actor="ann")


async def test_everything_is_handed_over_in_one_file_without_secrets(
    held: Settings, database: Database
) -> None:
    await database.fetch(
        "UPDATE messor.members SET password_hash = '$argon2id$canary' WHERE email = $1", JANE
    )
    data = await person_data.handed_over(database, NAMES, actor="ann")
    package = zipfile.ZipFile(io.BytesIO(data))
    listed = json.loads(package.read("index.json"))
    files = {name: package.read(name).decode() for name in package.namelist()}
    assert {one["table"] for one in listed["tables"]} >= {"members", "events", "mails"}
    assert json.loads(files["tables/members.json"])[0]["email"] == JANE
    assert "call back" in files["tables/events.json"]
    assert NAME in files["pages/1.md"]
    assert not any("canary" in text for text in files.values())
    told = await database.fetch(
        "SELECT type, actor, data::text AS data FROM messor.events WHERE type LIKE 'person.%'"
    )
    assert [(one["type"], one["actor"]) for one in told] == [("person.handed_over", "ann")]
    assert not re.search("jane|doe", told[0]["data"], re.IGNORECASE)


async def test_erased_is_gone_and_what_is_left_is_told(held: Settings, database: Database) -> None:
    done = await person_data.erase(database, NAMES, actor="ann", reason="asked", with_pages=True)
    assert (done.pages_erased, done.members_erased) == (1, 1)
    assert done.pages_left == []
    # Free text of a log is left to whoever looks, and said.
    assert {one.table for one in done.left} <= {"error_logs", "erasures", "events"}
    assert "error_logs" in {one.table for one in done.left}
    assert (
        await database.fetchval("SELECT count(*) FROM messor.members WHERE email = $1", JANE) == 0
    )
    assert await database.fetchval("SELECT count(*) FROM messor.mails") == 0
    actors = {row["actor"] for row in await database.fetch("SELECT actor FROM messor.events")}
    assert any(actor.startswith("erased-") for actor in actors)
    events = await database.fetch(
        "SELECT data::text AS data FROM messor.events WHERE type LIKE 'person.%'"
    )
    assert events
    assert not any(re.search("jane|doe", row["data"], re.IGNORECASE) for row in events)


async def test_the_last_admin_stays(held: Settings, database: Database) -> None:
    with pytest.raises(UsageError, match="last admin"):
        await person_data.erase(
            database, ["ann@x.example"], actor="ann", reason="asked", with_pages=False
        )


async def test_only_admins_ask_over_the_api(held: Settings, database: Database) -> None:
    app = api_over(held, database)
    given = {"names": NAMES}
    for role, allowed in ((Role.REVIEWER, False), (Role.ADMIN, True)):
        key = await key_of(database, role)
        async with client_of(app, headers={"Authorization": f"Bearer {key}"}) as client:
            found = await client.post("/api/v1/persons/find", json=given)
            file = await client.post("/api/v1/persons/export", json=given)
            assert (found.status_code, file.status_code) == ((200, 200) if allowed else (403, 403))
            if allowed:
                assert found.json()["pages"] == [f"http://{SITE}/team"]
                assert zipfile.ZipFile(io.BytesIO(file.content)).testzip() is None
                wrong = await client.post("/api/v1/persons/find", json={"names": ["x"]})
                assert wrong.status_code == 422
                gone = await client.post("/api/v1/persons/erase", json={**given, "reason": "asked"})
                assert gone.json()["members_erased"] == 1
                assert gone.json()["pages_left"] == [f"http://{SITE}/team"]
