"""Judge weights from decisions: measured on decisions held out, then applied from every interface."""

from __future__ import annotations

import pytest

from messor.errors import ConflictError
from messor.insight import judge_weights
from messor.insight.judge_weights import DecidedCandidate, fit, measure
from messor.store.database import Database
from messor.verticals import files, verticals
from messor.verticals.reweigh import with_judges
from tests.insight.making import apply_vertical, decide_candidates

NOW = files.shipped("funding").vertical.version


def case(domain: str, is_right: bool, **scores: float) -> DecidedCandidate:
    return DecidedCandidate(domain, is_right, scores)


def test_agreement_is_counted_at_the_threshold() -> None:
    cases = [
        case("a", True, keyword=0.6),
        case("b", False, keyword=0.6),
        case("c", True, keyword=0.59),
    ]
    found = measure([(one, {"keyword": 1.0}) for one in cases])
    assert found.wrong == 2
    assert found.brier == pytest.approx((0.16 + 0.36 + 0.1681) / 3, abs=1e-4)
    mixed = case("d", True, keyword=0.5, geography=0.8)
    assert mixed.confidence({"keyword": 1.0, "geography": 3.0}) == pytest.approx(0.725)
    assert mixed.confidence({"keyword": 0.0, "geography": 0.0}) == 0.0


def test_the_judge_that_reviewers_follow_gains_weight() -> None:
    cases = [
        case(f"d{n}", n % 2 == 0, keyword=0.9, geography=0.9 if n % 2 == 0 else 0.3)
        for n in range(30)
    ]
    usual = {"keyword": 3.0, "geography": 0.25}
    fitted = fit(cases, usual)
    assert fitted["geography"] > fitted["keyword"]
    assert measure([(one, fitted) for one in cases]).wrong == 0
    assert fit([case("a", True, keyword=0.9)] * 3, {"keyword": 1.0}) == {"keyword": 1.0}


async def test_weights_are_measured_before_they_are_applied(database: Database) -> None:
    await decide_candidates(database, 40)
    applied = await verticals.get(database, "funding")
    found = await judge_weights.suggest(database, applied)
    assert (found.decisions, found.approved, found.version) == (40, 20, NOW)
    assert found.now is not None
    assert found.then is not None
    assert (found.now.wrong, found.then.wrong, found.is_better) == (10, 0, True)
    assert found.sentence == "On decisions held out, 0 of 40 would be wrong instead of 10."
    assert (await verticals.get(database, "funding")).vertical.version == NOW
    async with database.transaction() as connection:
        new, _ = await judge_weights.apply(connection, "funding", actor="test", seen=NOW)
    assert new.vertical.version == NOW + 1
    assert new.vertical.judges == found.weights_then
    with pytest.raises(ConflictError, match="reload and try again"):
        async with database.transaction() as connection:
            await judge_weights.apply(connection, "funding", actor="test", seen=NOW)


@pytest.mark.parametrize("count, said", [(0, "0 of 20"), (19, "19 of 20")])
async def test_few_decisions_change_nothing(database: Database, count: int, said: str) -> None:
    await decide_candidates(database, count)
    with pytest.raises(ConflictError, match=f"Too few decisions to suggest weights: {said}"):
        async with database.transaction() as connection:
            await judge_weights.apply(connection, "funding", actor="test")


async def test_decisions_that_judges_agree_with_change_nothing(database: Database) -> None:
    await decide_candidates(database, 40)
    await database.fetch(
        """UPDATE messor.judgements j SET score = CASE WHEN c.status = 'APPROVED' THEN 0.9 ELSE 0.1 END
             FROM messor.candidates c WHERE c.id = j.candidate_id"""
    )
    with pytest.raises(ConflictError, match="0 of 40 would be wrong instead of 0"):
        async with database.transaction() as connection:
            await judge_weights.apply(connection, "funding", actor="test")


@pytest.mark.parametrize("name", files.SHIPPED)
async def test_other_judges_change_nothing_else_of_a_file(database: Database, name: str) -> None:
    applied = await apply_vertical(database, name)
    weights = {str(judge): 0.5 for judge in applied.vertical.judges}
    file = with_judges(applied, weights)
    expected = {"judges": weights, "version": applied.vertical.version + 1}
    assert file.vertical == applied.vertical.model_copy(update=expected)
