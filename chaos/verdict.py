"""The verdict: every finding of the checker as one line with its bound."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from chaos import checker
from chaos.checker import GAP_TOLERANCE, Check, Gap
from chaos.history import History, Page

LONGEST_SECONDS = 60.0  # beyond its delay, that a lane may rest after a step of the clock
EXAMPLES = 3  # offenders named in a line


def none_of(name: str, offenders: Collection[Any]) -> Check:
    """A check that passes when nothing was found."""
    shown = "; ".join(str(offender) for offender in list(offenders)[:EXAMPLES])
    return Check(name, len(offenders), "= 0", not offenders, shown)


def judge(history: History) -> list[Check]:
    """All checks on requests, leases and tables."""
    checks = [*_courtesy(history), *_harvest(history), *_records(history)]
    if history.addresses:
        checks += _neighbours(history)
    if history.retry_after:
        checks += _patience(history)
    return checks


def judge_without_clock(history: History, audited: Mapping[str, int]) -> list[Check]:
    """What can be said where the times in the tables are wrong: by the server's own clock alone.

    The server's log is held against the fetch log by page, and the audit of the latter must agree.
    """
    least = history.delay - GAP_TOLERANCE
    found = checker.gaps(history)
    early = [f"{gap.host} {gap.seconds * 1000:.1f} ms" for gap in checker.early(history)]
    served = Counter(request.page for request in history.requests)
    logged = Counter(fetch.page for fetch in history.fetches)
    at_once = checker.most_at_once(history)
    longest = max((gap.seconds for gap in found), default=0.0)
    return [
        none_of(f"gaps below {least * 1000:.0f} ms", early),
        Check("most requests at once to a host", at_once, "<= 1", at_once <= 1),
        Check("longest gap, s", round(longest, 1), "<= 60", longest <= LONGEST_SECONDS),
        *_harvest(history),
        none_of("requests without a record", sorted((served - logged).elements())),
        none_of("records without a request", sorted((logged - served).elements())),
        none_of("findings of audit politeness", sorted(f"{k}: {n}" for k, n in audited.items())),
    ]


def _courtesy(history: History) -> list[Check]:
    found = checker.gaps(history)
    smallest = found[0].seconds if found else history.delay
    least = history.delay - GAP_TOLERANCE
    sent = {fetch.page: fetch.at for fetch in history.fetches}
    at_once = checker.most_at_once(history)
    late = [_told(gap, sent) for gap in checker.early(history)]
    pairs = [
        f"{first.host} tokens {first.token} and {second.token}, "
        f"{(first.ended_at - second.claimed_at) * 1000:.1f} ms"
        for first, second in checker.overlaps(history)
    ]
    return [
        none_of(f"gaps below {least * 1000:.0f} ms", late),
        Check("smallest gap, ms", round(smallest * 1000, 1), f">= {least * 1000:.0f}", not late),
        Check("most requests at once to a host", at_once, "<= 1", at_once <= 1),
        none_of("overlapping leases", pairs),
        none_of("requests outside a visit", checker.outside_visits(history)),
    ]


def _told(gap: Gap, sent: Mapping[Page, float]) -> str:
    """A gap in words, with how far apart the requests were by their senders' own records."""
    text = f"{gap.host} {gap.seconds * 1000:.1f} ms before {gap.second.page.path}"
    if gap.first.page in sent and gap.second.page in sent:
        own = sent[gap.second.page] - sent[gap.first.page]
        text += f" (sent {own * 1000:.1f} ms apart)"
    return text


def _harvest(history: History) -> list[Check]:
    return [
        none_of("pages lost", sorted(checker.lost_pages(history))),
        none_of(
            "duplicate snapshots",
            sorted(checker.doubled([s.page for s in checker.good_snapshots(history)])),
        ),
        none_of("pages new twice", sorted(checker.doubled(history.new_pages))),
    ]


def _records(history: History) -> list[Check]:
    matching = checker.match(history)
    cut_off = sum(fetch.outcome == "cut_off" for fetch in history.fetches)  # logged, not stored
    again, lost = checker.refetches(history), len(matching.unrecorded) + cut_off
    return [
        Check("refetches", again, f"<= {lost} served, not flushed", again <= lost),
        none_of(
            "requests without a record, unexplained",
            checker.unexplained(history, matching.unrecorded),
        ),
        none_of("records without a request", matching.unserved),
        none_of("leases lost without a fault", checker.lost_leases(history)),
    ]


def _neighbours(history: History) -> list[Check]:
    """Hosts that share an address share its slots."""
    slots = history.address_slots
    found = {
        "most requests at once to an address": checker.most_at_address(history),
        "most visits at once at an address": checker.most_visits_at_address(history),
    }
    return [Check(name, most, f"<= {slots}", most <= slots) for name, most in found.items()]


def _patience(history: History) -> list[Check]:
    """Nobody asks again inside a Retry-After, but for what died with its only witness."""
    found = checker.intrusions(history)
    lost = {intrusion.refusal: str(intrusion) for intrusion in found if intrusion.residual}
    known = [intrusion for intrusion in found if not intrusion.residual]
    told = "; ".join(list(lost.values())[:EXAMPLES])
    return [
        none_of(f"requests inside a Retry-After of {history.retry_after:.0f} s", known),
        Check(
            "refusals forgotten with a killed worker", len(lost), "each after a kill", True, told
        ),
    ]
