"""Words and colours for what the database calls by short names; the same on every page."""

from __future__ import annotations

from typing import Any

from messor.crawl.progress import MEANINGS
from messor.politeness.risk import level
from messor.registry.domains import Submission

STATUS = {
    "pending_review": ("waits for review", "yellow"),
    "approved": ("approved", "green"),
    "rejected": ("rejected", "red"),
    "suspended": ("suspended", "orange"),
    "blacklisted": ("blacklisted", "dark"),
}
PROCESSING = {
    "discovered": "discovered",
    "processing": "being processed",
    "processed_high_quality": "high quality",
    "processed_low_quality": "low quality",
    "no_funds_this_year": "no funds this year",
    "processing_failed": "processing failed",
}
SUBMITTERS = {"admin": "a member", "public_user": "the public", "system": "Messor itself"}
LIKENESS = {"same_name": "same name", "spelling": "spelt alike", "word": "shares a word"}

# In the order they are stacked in a chart.
TONES = {
    "harvested": "green",
    "unchanged": "azure",
    "redirected": "cyan",
    "no content": "gray",
    "gone": "secondary",
    "not kept": "purple",
    "denied": "purple",
    "failed": "orange",
    "blocked": "red",
    "waiting": "gray",
    "not due": "gray",
}
RISK_TONES = {"low": "green", "medium": "yellow", "high": "orange", "critical": "red"}
SAYS = {
    "yes": ("green", "check", "allows"),
    "no": ("red", "xmark", "forbids"),
    "later": ("yellow", "clock", "delays"),
    "fact": ("blue", "info", "is known"),
}
VERDICTS = {
    "allowed": ("green", "It may be fetched."),
    "denied": ("red", "It is not fetched."),
    "deferred": ("yellow", "It is fetched later."),
}


def status_words(status: str) -> str:
    return STATUS.get(status, (status, ""))[0]


def status_tone(status: str) -> str:
    return STATUS.get(status, ("", "secondary"))[1]


def meaning(outcome: str | None) -> str:
    """An outcome in everyday words."""
    found = (name for name, outcomes in MEANINGS.items() if outcome in outcomes)
    return next(found, "denied" if outcome == "robots" else outcome or "waiting")


def tone_of(outcome: str | None) -> str:
    return TONES.get(meaning(outcome), "secondary")


def risk_level(score: float | None) -> str:
    return level(score or 0.0)


def risk_tone(score: float | None) -> str:
    return RISK_TONES[level(score or 0.0)]


def event_words(kind: str) -> str:
    """`domain.review_asked` as `domain review asked`."""
    return kind.replace(".", " ").replace("_", " ")


def event_tone(kind: str, data: dict[str, Any] | None = None) -> str:
    """Green for what went well, red for what was refused; what it found may tell otherwise."""
    last = kind.rpartition(".")[2]
    found = data or {}
    if last == "completed" and found.get("outcome", "success") not in ("success", "ok"):
        return "red" if found["outcome"] == "error" else "yellow"
    if last == "completed" and (found.get("found") or found.get("failed") or found.get("errors")):
        return "yellow"
    if last in ("approved", "trusted", "resumed", "kept", "completed"):
        return "green"
    if last in (
        "rejected",
        "blacklisted",
        "failed",
        "detected",
        "purged",
        "erased",
        "blocked",
        "halted",
    ):
        return "red"
    return "yellow" if last in ("suspended", "paused", "review_asked", "throttled") else "blue"


def event_detail(data: dict[str, Any]) -> str:
    """The part of an event that tells most, in short."""
    for name in ("reason", "context", "url", "note", "pages", "tasks", "urls"):
        if data.get(name) not in (None, ""):
            text = str(data[name])
            told = text if name in ("reason", "context", "url") else f"{name}: {text}"
            return told if len(told) <= 160 else f"{told[:159]}…"
    return ""


def actor_words(actor: str, names: dict[str, str]) -> str:
    return names.get(actor, actor.partition(":")[0] if ":" in actor else actor)


def domain_of(text: str) -> str:
    """The domain that a person means by a name, host or URL; raises a sentence."""
    return Submission.understand(text).domain
