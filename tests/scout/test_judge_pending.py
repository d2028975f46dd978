"""Judges on markets whose truth they do not know: who is taken, who is not, and why."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from bench.judging import measure

from messor.scout.judges.bench import FreshnessJudge, SnippetQualityJudge
from messor.scout.judges.bystanders import Bystanders
from messor.scout.judges.compounds import CompoundTerms
from messor.scout.judges.model import SearchResult
from messor.scout.judges.panel import Panel
from messor.scout.judges.titles import Title
from messor.verticals import files

NOW = datetime(2026, 11, 16, tzinfo=UTC)


def result(domain: str, title: str, snippet: str) -> SearchResult:
    return SearchResult(f"https://{domain}/", domain, title, snippet, "serper", "dentist", 1)


@pytest.mark.parametrize("name", files.SHIPPED)
def test_a_market_is_judged_well(name: str) -> None:
    found = measure(name, 1)
    assert found.recall >= 0.9, found.missed
    assert found.precision >= 0.9, found.wrong
    assert found.accuracy >= 0.9, found.misclassed


@pytest.mark.parametrize(
    "text, domain, topic, name",
    [
        ("Implants | Bright Dental", "bright-dental.com", "Implants", "Bright Dental"),
        ("Bright Dental | Implants", "brightdental.com", "Implants", "Bright Dental"),
        ("Bright Dental: implants", "brightdental.com", "implants", "Bright Dental"),
        ("The Bright Dental - Implants", "brightdental.com", "Implants", "The Bright Dental"),
        ("Bright Dental", "brightdental.com", "", "Bright Dental"),
        ("Implants | Somebody", "other.com", "Implants", "Somebody"),
        ("Implants: a guide", "other.com", "Implants: a guide", "Implants: a guide"),
        ("Menuiserie Léger, Paris", "menuiserie-leger.fr", "Paris", "Menuiserie Léger"),
    ],
)
def test_the_name_in_a_title_is_what_the_domain_is_made_of(
    text: str, domain: str, topic: str, name: str
) -> None:
    title = Title.of(text, domain)
    assert (title.topic, title.organisation) == (topic, name)


@pytest.mark.parametrize(
    "domain, title, snippet",
    [
        ("cityfinder.com", "10 best dentists in Novena | CityFinder", "Reviews and ratings."),
        ("thedailypost.com", "Dentist fees rise | The Daily Post", "According to the ministry."),
        ("askus.com", "Has anyone been to a dentist in Novena?", "Posted by Tom, 12 replies."),
        ("pricey.com", "Cheapest teeth whitening deals", "Compare prices from 40 clinics."),
        ("openpedia.org", "Dentist - Openpedia", "The meaning and history of the word dentist."),
        ("topjobs.com", "Dentist jobs in Singapore", "240 vacancies, salary and benefits."),
        ("teach.edu", "Diploma in dental nursing", "Entry requirements and tuition for students."),
        ("name.com", "Tom Lim on Name: my dentist day", "I went to see the dentist."),
    ],
)
def test_bystanders_are_not_taken(domain: str, title: str, snippet: str) -> None:
    panel = Panel(files.shipped("wellness").vertical, now=lambda: NOW)
    judgement = panel.judge(result(domain, title, snippet))
    assert not judgement.should_crawl, judgement.reasoning


def test_whoever_a_vertical_looks_for_is_no_bystander() -> None:
    title = Title.of("Research fellowship | Ardent University", "ardent.edu")
    said = "Students and graduates may apply; the degree is paid for."
    funding, wellness = (
        Bystanders(files.shipped(name).vertical).detect(title, said, "ardent")
        for name in ("funding", "wellness")
    )
    assert not funding.is_one()
    assert wellness.is_one()
    assert wellness.kind == "teaches"


def test_terms_are_found_within_long_words() -> None:
    terms = CompoundTerms(["stiftung", "fund", "dental clinic"])
    assert terms.found_in("Die Kulturstiftung der Stadt") == ["stiftung"]
    assert terms.found_in("a refund of the fee") == []
    assert terms.found_in_label("mueller-stiftung") == ["stiftung"]
    assert terms.found_in_label("muellerstiftung") == ["stiftung"]
    assert terms.found_in("our dental clinics") == ["dental clinic"]


def test_the_year_of_a_beginning_is_no_date() -> None:
    judge = FreshnessJudge(lambda: NOW)
    assert judge.judge(result("a.com", "Joinery", "A family firm since 2008.")).score is None
    assert judge.judge(result("a.com", "Joinery", "Prices of 2026, since 2008.")).score == 1.0
    assert judge.judge(result("a.com", "Joinery", "Price list 2022.")).score == 0.0


def test_an_address_describes_nothing() -> None:
    judge = SnippetQualityJudge()
    assert judge.judge(result("a.com", "Joinery", "1 High Street")).score is None
    assert judge.judge(result("a.com", "Joinery", "Hauptstraße 12")).score is None
    assert judge.judge(result("a.com", "Joinery", "All good")).score == pytest.approx(0.6)
