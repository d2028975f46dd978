"""Decisions: the first rule that objects wins."""

from __future__ import annotations

from messor.ledger.decisions import Decision, Verdict, decide, deferred, denied

ALLOWED = Decision(Verdict.ALLOWED, "approved", "no rule objects")


def test_without_an_objection_it_is_allowed() -> None:
    assert decide(1, [lambda _: None], ALLOWED) is ALLOWED


def test_the_first_objection_wins_and_ends_the_questions() -> None:
    asked: list[str] = []

    def late(_: int) -> Decision | None:
        asked.append("late")
        return denied("late", "no")

    decision = decide(1, [lambda _: None, lambda _: deferred("early", "wait"), late], ALLOWED)
    assert (decision.verdict, decision.rule, asked) == (Verdict.DEFERRED, "early", [])
    assert not decision.allowed
