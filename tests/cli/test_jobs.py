"""`messor jobs` as a person meets it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from uuid import UUID, uuid4

import asyncpg
import pytest

from messor.jobs import jobs, leases, outcomes
from messor.jobs.jobs import NewJob
from messor.ledger.errors import LoggedError
from messor.store.database import Database
from tests.cli.conftest import Messor, Said

COUNTS = "SELECT state, count(*) FROM messor.jobs GROUP BY state"
EVENTS = "SELECT type, actor, (data->>'jobs')::int FROM messor.events"


async def fetch(dsn: str, sql: str) -> list[asyncpg.Record]:
    connection = await asyncpg.connect(dsn, ssl=False)
    try:
        rows: list[asyncpg.Record] = await connection.fetch(sql)
    finally:
        await connection.close()
    return rows


def states(dsn: str) -> dict[str, int]:
    return {row[0]: row[1] for row in asyncio.run(fetch(dsn, COUNTS))}


def recorded(dsn: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in asyncio.run(fetch(dsn, EVENTS))]


def is_one_sentence(said: Said) -> bool:
    lines = said.err.strip().splitlines()
    return len(lines) == 1 and lines[0].startswith("messor: ") and "Traceback" not in said.err


async def prepare(dsn: str) -> dict[str, UUID]:
    """Two jobs that wait, one done, three dead; their ids by key."""
    wanted = [NewJob("score", key, "page", priority=rank) for rank, key in enumerate("abcd", 1)]
    wanted += [NewJob("export", key, "page", priority=9) for key in "ef"]
    faults = [
        LoggedError("network", "OSError", "no route to 10.0.0.1", "Traceback: \x1b[31mred", None),
        LoggedError("network", "OSError", "no route to 10.0.0.2", None, None),
        LoggedError("parse", "DecodeError", "odd \x1b]0;byte", None, None),
    ]
    async with Database(dsn) as database:
        async with database.transaction() as connection:
            await jobs.enqueue(connection, wanted)
        done, *failing = await leases.claim(database, "w", ["score"], 4, 60)
        async with database.transaction() as connection:
            await outcomes.complete(connection, done, {"score": 3})
            for job, fault in zip(failing, faults, strict=True):
                known = LoggedError(fault.category, fault.error_type, fault.message, fault.stack, job_id=job.id)  # fmt: skip
                await outcomes.fail(connection, job, known, retryable=False)
    return {job.dedupe_key: job.id for job in wanted}


@pytest.fixture
def ids(dsn: str) -> dict[str, UUID]:
    return asyncio.run(prepare(dsn))


def test_with_nothing_there(messor: Messor) -> None:
    for words in (("list",), ("stats",), ("dead",), ("errors",)):
        said = messor("jobs", *words)
        assert (said.code, said.out) == (0, "")
        assert said.err.startswith("No ")
        assert messor("jobs", *words, "--json").json == []


def test_list(messor: Messor, ids: dict[str, UUID], tmp_path: Path) -> None:
    head, *lines = messor("jobs", "list").out.splitlines()
    assert head.split()[:3] == ["ID", "TYPE", "STATE"]
    assert len(lines) == 6
    (only,) = messor("jobs", "list", "--state", "done", "--job-type", "score", "--json").json
    assert (only["id"], only["state"], only["attempts"]) == (str(ids["a"]), "done", 1)
    assert messor("jobs", "list", "--json", "-o", "jobs.json").out == ""
    assert len(json.loads((tmp_path / "jobs.json").read_text())) == 6
    assert len(messor("jobs", "list", "--limit", "2", "--json").json) == 2


def test_show(messor: Messor, ids: dict[str, UUID]) -> None:
    found = messor("jobs", "show", str(ids["a"]), "--json").json
    assert (found["state"], found["result_json"], found["errors"]) == ("done", {"score": 3}, [])
    said = messor("jobs", "show", str(ids["b"]))
    assert "no route to 10.0.0.1" in said.out
    assert "Traceback: " in said.out
    assert "\x1b" not in said.out


def test_a_retired_job_is_still_shown(messor: Messor, ids: dict[str, UUID]) -> None:
    assert messor("jobs", "purge", str(ids["b"])).code == 0
    found = messor("jobs", "show", str(ids["b"]), "--json").json
    assert (found["state"], found["dead_category"]) == ("dead", "network")
    assert found["retired_at"] is not None


def test_stats(messor: Messor, ids: dict[str, UUID]) -> None:
    export, score = messor("jobs", "stats", "--json").json
    assert (export["job_type"], export["queued"], export["due"]) == ("export", 2, 2)
    assert (score["done"], score["dead"], score["queued"]) == (1, 3, 0)
    assert len(messor("jobs", "stats").out.splitlines()) == 3


def test_dead(messor: Messor, ids: dict[str, UUID]) -> None:
    said = messor("jobs", "dead")
    assert len(said.out.splitlines()) == 4
    assert "\x1b" not in said.out
    found = messor("jobs", "dead", "--pattern", "no route to <n>", "--json").json
    assert {letter["id"] for letter in found} == {str(ids["b"]), str(ids["c"])}
    assert messor("jobs", "dead", "--category", "parse", "--older-than", "1h", "--json").json == []


def test_errors(messor: Messor, ids: dict[str, UUID]) -> None:
    first, second = messor("jobs", "errors", "--json").json
    assert (first["times"], first["pattern"]) == (2, "no route to <n>")
    assert (second["category"], second["times"]) == ("parse", 1)
    said = messor("jobs", "errors", "--since", "1h", "--category", "network")
    assert said.out.splitlines()[1].split()[:3] == ["2", "network", "OSError"]
    assert messor("jobs", "errors", "--error-type", "KeyError", "--json").json == []


def test_a_single_letter_needs_no_yes(messor: Messor, dsn: str, ids: dict[str, UUID]) -> None:
    said = messor("jobs", "requeue", str(ids["b"]))
    assert (said.code, said.err) == (0, "1 job requeued.\n")
    assert messor("jobs", "purge", str(ids["c"]), "--json").json == {"purged": 1}
    assert states(dsn) == {"queued": 3, "done": 1, "dead": 1}
    assert recorded(dsn) == [("jobs.requeued", "local-admin", 1), ("jobs.purged", "local-admin", 1)]


@pytest.mark.parametrize("verb, done", [("requeue", "requeued"), ("purge", "purged")])
def test_bulk_says_what_it_would_do_and_does_it_when_told(
    messor: Messor, dsn: str, ids: dict[str, UUID], verb: str, done: str
) -> None:
    said = messor("jobs", verb, "--category", "network")
    assert said.code == 2
    assert is_one_sentence(said)
    assert f"This would {verb} 2 dead letters (of category network). Add --yes" in said.err
    assert states(dsn)["dead"] == 3
    said = messor("jobs", verb, "--category", "network", "--yes", "--json")
    assert (said.code, said.json) == (0, {done: 2})
    assert f"About to {verb} 2 dead letters" in said.err
    assert states(dsn)["dead"] == 1


def test_several_ids_and_all_need_yes(messor: Messor, dsn: str, ids: dict[str, UUID]) -> None:
    assert messor("jobs", "requeue", str(ids["b"]), str(ids["c"])).code == 2
    assert messor("jobs", "purge", "--all").code == 2
    assert states(dsn)["dead"] == 3
    assert messor("jobs", "purge", "--all", "--yes").err.endswith("3 jobs purged.\n")
    assert "dead" not in states(dsn)
    assert messor("jobs", "purge", "--all", "--yes").err == "0 jobs purged.\n"


def test_cancel(messor: Messor, dsn: str, ids: dict[str, UUID]) -> None:
    assert messor("jobs", "cancel", str(ids["e"])).err == "1 job cancelled.\n"
    said = messor("jobs", "cancel", "--job-type", "export")
    assert (said.code, is_one_sentence(said)) == (2, True)
    assert "This would cancel 1 jobs of type export" in said.err
    assert messor("jobs", "cancel", "--job-type", "export", "--yes", "--json").json == {
        "cancelled": 1
    }
    assert states(dsn) == {"cancelled": 2, "done": 1, "dead": 3}
    assert recorded(dsn) == [("jobs.cancelled", "local-admin", 1)] * 2


@pytest.mark.parametrize("verb", ["show", "requeue", "purge", "cancel"])
def test_an_unknown_job_is_not_found(messor: Messor, verb: str) -> None:
    said = messor("jobs", verb, str(uuid4()))
    assert said.code == 4
    assert is_one_sentence(said)


@pytest.mark.parametrize(
    "words, sentence",
    [
        (("requeue",), "Select dead letters by id"),
        (("purge",), "Select dead letters by id"),
        (("purge", "--all", "--job-type", "score", "--yes"), "Select dead letters by id"),
        (("purge", "--pattern", " ", "--yes"), "empty pattern"),
        (("dead", "--older-than", "long"), "--older-than: 'long' is not a duration"),
        (("dead", "--older-than", "999999w"), "is not a duration"),
        (("errors", "--since", ""), "is not a duration"),
        (("cancel",), "Give either job ids or --job-type"),
        (("cancel", str(uuid4()), "--job-type", "x"), "Give either job ids or --job-type"),
    ],
)
def test_bad_input_gets_one_sentence(messor: Messor, words: tuple[str, ...], sentence: str) -> None:
    said = messor("jobs", *words)
    assert (said.code, said.out) == (2, "")
    assert is_one_sentence(said)
    assert sentence in said.err
