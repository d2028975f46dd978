"""Flags on the command line: listed, confirmed, overturned, learnt from."""

from __future__ import annotations

from pathlib import Path

import pytest

from messor.insight.relevance import store
from messor.insight.relevance.classifier import Classifier, Trained
from tests.cli.conftest import Messor

URL = "https://fund.example/grants"
TEXT = "Apply for a grant: our foundation funds charities. Deadline for applications is in May. "


@pytest.fixture
def fund(messor: Messor, tmp_path: Path) -> Messor:
    """A funder's page, extracted."""
    assert messor("verticals", "apply", "funding").code == 0
    people = tmp_path / "funders.csv"
    people.write_text("name,domains\nThe Fund,fund.example\n")
    assert messor("verticals", "import", "funding", str(people)).code == 0
    page = tmp_path / "page.html"
    page.write_text(f"<title>Grants</title><h1>Grants</h1><p>{TEXT * 3}</p>")
    assert messor("import", str(page), "--url", URL, "--approve").code == 0
    assert messor("extract", "--once", "--processes", "1").code == 0
    return messor


def test_flags_are_listed_confirmed_and_overturned(fund: Messor) -> None:
    (flag,) = fund("relevance", "list", "funding", "--json").json
    assert (flag["url"], flag["relevant"], flag["decided_by"]) == (URL, True, None)
    assert flag["reasons"]
    assert "relevant" in fund("relevance", "list", "funding").out
    assert "No matching flags" in fund("relevance", "list", "funding", "--state", "undecided").err
    said = fund("relevance", "confirm", "funding", URL, "--json").json
    assert (said["relevant"], said["overturned"]) == (True, False)
    number = str(flag["page_id"])
    assert "irrelevant" in fund("relevance", "overturn", "funding", number, "--reason", "no").out
    (flag,) = fund("relevance", "list", "funding", "--state", "irrelevant", "--json").json
    assert (flag["decided_by"], flag["model_version"]) == ("local-admin", "reviewer")
    assert fund("relevance", "list", "funding", "--domain", "fund.example").code == 0


def test_learning_is_measured_before_it_judges(fund: Messor) -> None:
    assert "the rules are used" in fund("relevance", "versions", "funding").err
    fund("relevance", "confirm", "funding", URL)
    learnt = fund("relevance", "learn", "funding", "--json").json
    assert (learnt["version"], learnt["on"], learnt["decisions"]) == (1, False, 1)
    assert "40 are needed" in fund("relevance", "versions", "funding").out
    refused = fund("relevance", "switch", "funding", "1")
    assert refused.code == 5
    assert "cannot be activated" in refused.err
    assert fund("relevance", "switch", "funding", "rules").code == 0


def test_what_judges_is_explained_by_its_strongest_terms(
    fund: Messor, monkeypatch: pytest.MonkeyPatch
) -> None:
    classifier = Classifier(0.0, {"grant": 2.0, "title:prices": -1.5, "deadline": 1.0})

    async def learn(*_: object, **__: object) -> tuple[int, Trained]:
        return 3, Trained(classifier, 50, None, None, may_judge=True, reason="It is better.")

    monkeypatch.setattr(store, "learn", learn)
    said = fund("relevance", "learn", "funding").out.splitlines()
    assert said[1:] == ["for: grant, deadline", "against: title:prices"]
    terms = fund("relevance", "learn", "funding", "--json").json["strongest"]
    assert terms == {"for": ["grant", "deadline"], "against": ["title:prices"]}


def test_what_is_not_there_is_said_in_a_sentence(fund: Messor) -> None:
    assert fund("relevance", "list", "cooking").code == 4
    assert fund("relevance", "confirm", "funding", "999").code == 4
    assert fund("relevance", "confirm", "funding", "://").code == 2
    assert fund("relevance", "switch", "funding", "best").code == 2
    assert fund("relevance", "switch", "funding", "7").code == 4
    assert fund("relevance", "confirm", "funding", URL, "--as", "irrelevant").code == 2
