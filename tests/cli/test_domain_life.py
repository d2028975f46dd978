"""The life of a domain from a terminal: every verb, its words, its JSON and its exit code."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from messor.governance import decisions, intake
from messor.registry.submissions import Submitter
from messor.store.database import Database
from tests.cli.conftest import Messor

YEAR = str(datetime.now(UTC).year)


def test_workflow_1(messor: Messor) -> None:
    said = messor("domains", "submit", "https://foodbank.org/x", "--context", "Food", "--json")
    assert (said.json["outcome"], said.json["status"]) == ("new", "pending_review")
    queue = messor("domains", "queue", "--json").json
    assert [(row["domain"], row["submission_context"]) for row in queue] == [
        ("foodbank.org", "Food")
    ]
    assert "foodbank.org" in messor("domains", "queue").out
    said = messor("domains", "approve", "foodbank.org", "--json")
    assert said.json["status"] == "approved"
    assert "Its pages are due. No worker is running." in said.err
    said = messor("domains", "submit", "foodbank.org")
    assert "would you like to re-scrape?" in said.err
    assert "1 known pages are due" in messor("domains", "submit", "foodbank.org", "--rescrape").err
    said = messor("domains", "approve", "foodbank.org")
    assert (said.code, "decided by local-admin on" in said.err) == (5, True)


def test_workflow_2(messor: Messor) -> None:
    url = "https://foodbank.org/services/housing"
    said = messor("domains", "url", url, "--json")
    assert (said.json["outcome"], said.json["asks"]) == ("offered", "submit")
    assert "Would you like to submit foodbank.org for review?" in said.err
    said = messor("domains", "url", url, "--submit", "--context", "Food bank", "--json")
    assert said.json["outcome"] == "remembered"
    assert url in messor("domains", "review", "foodbank.org").out
    assert "approved. 1 submitted URL is crawled with it. Its pages are due." in (
        messor("domains", "approve", "foodbank.org").err
    )
    assert messor("domains", "url", f"{url}/2", "--json").json["outcome"] == "crawling"


def test_no_and_yes_again(messor: Messor) -> None:
    messor("domains", "submit", "spam.example")
    said = messor("domains", "reject", "spam.example", "--reason", "a shop", "--notify", "--json")
    assert (said.json["status"], "Its submitter was not notified" in said.err) == ("rejected", True)
    assert "was rejected: a shop." in messor("domains", "submit", "spam.example").err
    said = messor("domains", "submit", "spam.example", "--context", "not a shop", "--json")
    assert said.json["outcome"] == "resubmitted"
    said = messor("domains", "blacklist", "spam.example", "--reason", "it is a shop", "--json")
    assert said.json["status"] == "blacklisted"
    said = messor("domains", "submit", "spam.example", "--context", "really not", "--json")
    assert said.json["outcome"] == "blacklisted"
    assert messor("domains", "reject", "spam.example", "--reason", " ").code == 5


@pytest.mark.parametrize("verb", ["reject", "blacklist"])
def test_a_no_without_reason_is_bad_input(messor: Messor, verb: str) -> None:
    messor("domains", "submit", "example.org")
    assert messor("domains", verb, "example.org").code == 2
    assert messor("domains", verb, "example.org", "--reason", " ").code == 2


def test_pause_trust_note_and_another_look(messor: Messor) -> None:
    messor("domains", "submit", "example.org")
    assert messor("domains", "trust", "example.org").code == 5
    messor("domains", "approve", "example.org")
    assert messor("domains", "trust", "example.org", "--json").json["is_trusted_domain"]
    assert not messor("domains", "untrust", "example.org", "--json").json["is_trusted_domain"]
    said = messor("domains", "suspend", "example.org", "--reason", "asked", "--json")
    assert said.json["status"] == "suspended"
    assert messor("domains", "resume", "example.org", "--json").json["status"] == "approved"
    assert messor("domains", "resume", "example.org").code == 5
    said = messor("domains", "note", "example.org", "by phone only", "--json")
    assert said.json["body"] == "by phone only"
    said = messor("domains", "review-again", "example.org", "--reason", "sold", "--json")
    assert (said.json["status"], said.json["review_reason"]) == ("pending_review", "sold")
    shown = messor("domains", "review", "example.org").out
    assert "reason: sold" in shown
    assert "by phone only" in shown
    assert "domain.review_asked by local-admin" in shown
    assert messor("domains", "keep", "example.org").code == 5


def test_rest_and_revival(messor: Messor) -> None:
    messor("domains", "submit", "grants.example")
    messor("domains", "approve", "grants.example")
    said = messor("domains", "no-funds", "grants.example", "--year", YEAR, "--json")
    assert (said.json["processing"], said.json["no_funds_year"]) == (
        "no_funds_this_year",
        int(YEAR),
    )
    listed = messor("domains", "list", "--processing", "no_funds_this_year", "--json").json
    assert [row["domain"] for row in listed] == ["grants.example"]
    said = messor("domains", "revive", "grants.example", "--json")
    assert said.json["processing"] == "processing"
    assert messor("domains", "no-funds", "grants.example", "--year", "2019").code == 2


def test_many_at_once(messor: Messor) -> None:
    for name in ("one.example", "two.example"):
        messor("domains", "submit", name)
    said = messor("domains", "approve", "one.example", "nobody.example", "two.example", "--json")
    assert said.code == 3
    assert [row["code"] for row in said.json] == ["ok", "not_found", "ok"]
    assert "1 of 3 domains were not changed" in said.err


def test_import(messor: Messor, tmp_path: Path) -> None:
    file = tmp_path / "domains.csv"
    file.write_text("foodbank.org, 2, Food bank\nnot a domain\n", encoding="utf-8")
    said = messor("domains", "import", str(file), "--json")
    assert said.code == 3
    assert [(row["number"], row["outcome"]) for row in said.json] == [
        (1, "approved"),
        (2, "refused"),
    ]
    assert "1 approved, 1 refused" in said.err
    assert messor("domains", "show", "foodbank.org", "--json").json["status"] == "approved"


def test_a_first_look_is_asked_for(messor: Messor) -> None:
    messor("domains", "submit", "example.org", "--preflight")
    assert "already in progress" in messor("domains", "preflight", "example.org").err
    assert "waiting for a worker" in messor("domains", "review", "example.org").out
    assert messor("domains", "review", "example.org", "--json").json["preflight"]["report"] is None


def test_purge_and_erase(messor: Messor) -> None:
    messor("domains", "submit", "example.org")
    messor("domains", "approve", "example.org")
    assert messor("domains", "purge", "example.org", "--yes").code == 5
    messor("domains", "suspend", "example.org")
    said = messor("domains", "purge", "example.org", "--json")
    assert (said.json["pages"], said.json["purged"]) == (2, False)
    assert messor("domains", "purge", "example.org", "--yes", "--json").json["pages"] == 2
    assert messor("domains", "purge", "example.org", "--json").json["pages"] == 0
    assert messor("domains", "erase", "domain", "example.org").code == 2
    said = messor("domains", "erase", "domain", "example.org", "--reason", "asked", "--json")
    assert (said.code, said.json["key"]) == (0, "example.org")
    assert messor("domains", "show", "example.org", "--json").json["status"] == "blacklisted"
    said = messor("domains", "erase", "person", "jane@mail.example", "--reason", "asked")
    assert (said.code, "jane" in said.out + said.err) == (0, False)
    assert "2 erasures were repeated" in messor("domains", "erase", "again").err
    assert messor("domains", "mentions", "jane", "--json").json == []


def test_what_the_public_wrote_cannot_steer_a_terminal(messor: Messor) -> None:
    messor("domains", "submit", "example.org", "--context", "hi\x1b]0;owned\x07\u202e")
    for verb in ("review", "queue", "show"):
        words = (verb,) if verb == "queue" else (verb, "example.org")
        assert not {"\x1b", "\x07", "\u202e"} & set(messor("domains", *words).out)


def test_people_are_told_names_and_machines_ids(messor: Messor, dsn: str) -> None:
    member = messor("members", "add", "ann@example.org", "--name", "Ann Reader", "--json").json
    actor = f"member:{member['id']}"

    async def decide() -> None:
        async with Database(dsn) as database, database.transaction() as connection:
            asker = Submitter(actor)
            await intake.submit_domain(connection, "foodbank.org", asker, context="Food")
            await decisions.approve(connection, "foodbank.org", actor=actor)

    asyncio.run(decide())
    for words in (("why", "https://foodbank.org/"), ("events",), ("domains", "review", "foodbank.org"),
                  ("domains", "show", "foodbank.org")):  # fmt: skip
        said = messor(*words)
        assert "Ann Reader" in said.out, words
        assert actor not in said.out, words
        assert actor in messor(*words, "--json").out, words
