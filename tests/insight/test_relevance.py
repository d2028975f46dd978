"""Relevance by rules and by learning, without a database: scores, reasons, and when to switch on."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from messor.ai.ledger import Subject
from messor.errors import UsageError
from messor.insight.relevance import Flagger, PageText, Topic, lexical_score, train
from messor.insight.relevance.classifier import RULES, Measure, fit
from messor.insight.relevance.flags import ActiveClassifier
from tests.insight.relevance_pages import TOPIC, examples

SUBJECT = Subject("a.test", "job")


def test_phrases_are_whole_words_weighed_and_named() -> None:
    about = lexical_score(TOPIC, "Grants for clubs", "Apply for funding. The deadline is in May.")
    other = lexical_score(TOPIC, "The grantee's song", "Granted, these are lyrics.")
    assert about.value > 0.6 > 0.4 > other.value
    assert about.reasons[0] == "for: grants (+3.0)"
    assert other.reasons == ("against: lyrics (-1.0)",)
    assert lexical_score(TOPIC, "", "").reasons == ("no phrase of the topic was found",)


def test_repetition_does_not_make_a_page_relevant() -> None:
    assert lexical_score(TOPIC, "Cars", "grant " * 5_000).value < 0.6


def test_accents_and_case_do_not_matter() -> None:
    topic = Topic("fr", phrases={"Aide financière": 9.0})
    assert lexical_score(topic, "", "une AIDE   FINANCIERE").value > 0.6


@pytest.mark.parametrize("weights", [{"a": 0.0}, {"a": -1.0}, {"a": 1e9}])
def test_weights_that_make_no_sense_are_refused(weights: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        Topic("x", phrases=weights)


def test_learning_improves_on_pages_of_unseen_domains() -> None:
    trained = train(examples(1, 160))
    assert trained.may_judge, trained.reason
    assert trained.learnt is not None
    assert trained.rules is not None
    assert trained.learnt.balanced > trained.rules.balanced
    held_out = examples(2, 200, domains="unseen")
    judge = trained.classifier
    learnt = Measure.of(
        [(e.relevant, judge.score(e.title, e.text, e.lexical) >= 0.5) for e in held_out]
    )
    rules = Measure.of([(e.relevant, e.lexical >= 0.5) for e in held_out])
    assert learnt.balanced >= 0.95
    assert learnt.balanced > rules.balanced + 0.1
    strongest = judge.strongest()
    assert {"applicants", "bursary", "eligibility"} & set(strongest["for"])
    assert {"film", "actor", "cinema", "comedy"} & set(strongest["against"])


def test_learning_gives_the_same_from_the_same_decisions() -> None:
    given = examples(3, 80)
    shuffled = random.Random(1).sample(given, len(given))
    assert train(given) == train(shuffled)


def test_decisions_without_sense_are_not_switched_on() -> None:
    chance = random.Random(4)
    noise = [replace(each, relevant=chance.random() < 0.5) for each in examples(4, 160)]
    trained = train(noise)
    assert not trained.may_judge
    assert "not good enough" in trained.reason or "no better" in trained.reason


def test_what_is_no_better_than_the_rules_is_not_switched_on() -> None:
    known = [replace(each, lexical=0.9 if each.relevant else 0.1) for each in examples(5, 120)]
    trained = train(known)
    assert not trained.may_judge
    assert "no better than the rules" in trained.reason


def test_too_little_is_not_learnt_from() -> None:
    assert "at least 40 are needed" in train(examples(6, 20)).reason
    one_sided = [replace(each, relevant=True) for each in examples(6, 80)]
    assert "10 of each" in train(one_sided).reason
    one_site = [replace(each, domain="a.test") for each in examples(6, 80)]
    assert "at least 4 are needed" in train(one_site).reason


def test_a_word_of_one_site_is_not_learnt() -> None:
    given = [
        replace(each, text=f"{each.text} acme") if each.domain == "site0.test" else each
        for each in examples(7, 100)
    ]
    assert "acme" not in fit(given).weights


async def test_what_was_learnt_judges_with_its_reasons() -> None:
    trained = train(examples(1, 160))
    rules = Flagger(TOPIC)
    learnt = Flagger(TOPIC, learnt=ActiveClassifier(trained.classifier, 3))
    page = PageText(
        "Bursary scheme", "applicants eligibility award charity trustees proposals call"
    )
    assert (await rules.flag(page, SUBJECT)).relevant is False
    flag = await learnt.flag(page, SUBJECT)
    assert flag.relevant is True
    assert flag.model_version == "learnt-3"
    assert flag.reasons[0].startswith("learnt: ")
    assert RULES in " ".join(flag.reasons) or len(flag.reasons) > 3


async def test_a_borderline_page_waits_where_there_is_no_model() -> None:
    page = PageText("", "grant funding apply deadline grants grants")
    flag = await Flagger(replace(TOPIC, relevant_from=0.9, irrelevant_to=0.1)).flag(page, SUBJECT)
    assert (flag.relevant, flag.model_version) == (None, "rules-1")
