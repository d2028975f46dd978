"""The model's ledger on the command line: what was spent, asked and not believed."""

from __future__ import annotations

import asyncio

import pytest

from messor.store.database import Database
from simweb.services.model import ModelStandIn
from tests.ai.ai_bench import KEY, bench
from tests.cli.conftest import Messor


async def _ask(dsn: str) -> None:
    lie = {"title": "Spring offer", "price": "EUR\x1b[2J 1"}
    standin = ModelStandIn(api_key=KEY, mind=lambda *_: {"offer": [lie], "call_to_action": []})
    async with Database(dsn) as database, bench(database, standin) as b:
        assert len((await b.read()).unverified) == 1


@pytest.fixture
def asked(messor: Messor, dsn: str) -> Messor:
    """One question was put, and its answer is not all true."""
    asyncio.run(_ask(dsn))
    return messor


def test_what_was_spent_stands_beside_its_caps(asked: Messor) -> None:
    month, domain = asked("model", "spent", "--json").json
    assert (month["scope"], domain["scope"], domain["key"]) == ("month", "domain", "spa.test")
    assert month["calls"] == domain["calls"] == 1
    said = asked("model", "spent").out.splitlines()
    assert said[0].split() == ["SCOPE", "CALLS", "TOKENS", "COST", "MAX", "TOKENS", "MAX", "COST"]
    assert said[1].split()[4] == "50000000"
    assert said[2].split()[0] == "spa.test"


def test_calls_are_listed_with_what_is_not_believed(asked: Messor) -> None:
    (call,) = asked("model", "calls", "--json").json
    assert (call["ending"], call["domain"]) == ("answered", "spa.test")
    (doubt,) = call["unverified"]
    assert (doubt["field"], doubt["reason"]) == ("price", "It is not seen on the page.")
    assert "answered" in asked("model", "calls", "--domain", "www.spa.test").out
    doubts = asked("model", "calls", "--unverified").out
    assert "EUR\ufffd[2J 1" in doubts
    assert "not seen on the page" in doubts
    assert "No matching model calls" in asked("model", "calls", "--status", "refused").err


def test_nothing_spent_is_said(messor: Messor) -> None:
    assert "The model was not used this month" in messor("model", "spent").err
