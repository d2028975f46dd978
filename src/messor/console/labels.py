"""Labels and colours for stored values, the same on every page."""

from __future__ import annotations

from typing import Any

from messor.crawl.progress import MEANINGS
from messor.politeness.risk import band_of, level
from messor.registry.domains import Submission

STATUS = {
    "pending_review": ("pending review", "yellow"),
    "approved": ("approved", "green"),
    "rejected": ("rejected", "red"),
    "suspended": ("suspended", "orange"),
    "blacklisted": ("blacklisted", "dark"),
}
PROCESSING = {
    "discovered": "discovered",
    "processing": "processing",
    "processed_high_quality": "high quality",
    "processed_low_quality": "low quality",
    "no_funds_this_year": "no funds this year",
    "processing_failed": "processing failed",
}
SUBMITTERS = {"admin": "a member", "public_user": "the public", "system": "Messor"}
MAIL_STATES = {  # words and tone
    "queued": ("queued", "azure"),
    "sent": ("sent", "green"),
    "failed": ("failed", "red"),
    "manual": ("to be sent by you", "yellow"),
}
LIKENESS = {"same_name": "same name", "spelling": "similar spelling", "word": "shares a word"}

# In stacking order of the charts.
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
FACT_STYLES = {
    "yes": ("green", "check", "allows"),
    "no": ("red", "xmark", "forbids"),
    "later": ("yellow", "clock", "delays"),
    "fact": ("blue", "info", "fact"),
}
VERDICTS = {
    "allowed": ("green", "This URL may be fetched."),
    "denied": ("red", "This URL is not fetched."),
    "deferred": ("yellow", "This URL is fetched later."),
}


def status_words(status: str) -> str:
    return STATUS.get(status, (status, ""))[0]


def status_tone(status: str) -> str:
    return STATUS.get(status, ("", "secondary"))[1]


def meaning(outcome: str | None) -> str:
    """The display label of an outcome."""
    found = (name for name, outcomes in MEANINGS.items() if outcome in outcomes)
    return next(found, "denied" if outcome == "robots" else outcome or "waiting")


def tone_of(outcome: str | None) -> str:
    return TONES.get(meaning(outcome), "secondary")


def risk_level(score: float | None) -> str:
    return level(score or 0.0)


def risk_tone(score: float | None) -> str:
    return band_of(score or 0.0).tone


def event_words(kind: str) -> str:
    """An event type as words: `domain.review_asked` becomes `domain review asked`."""
    return kind.replace(".", " ").replace("_", " ")


def event_tone(kind: str, data: dict[str, Any] | None = None) -> str:
    """The colour of an event, by its type and, for completed work, by its result."""
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
    """The most informative value of an event, shortened."""
    for name in ("reason", "context", "url", "note", "pages", "tasks", "urls"):
        if data.get(name) not in (None, ""):
            text = str(data[name])
            detail = text if name in ("reason", "context", "url") else f"{name}: {text}"
            return detail if len(detail) <= 160 else f"{detail[:159]}…"
    return ""


def actor_words(actor: str, names: dict[str, str]) -> str:
    return names.get(actor, actor.partition(":")[0] if ":" in actor else actor)


def domain_of(text: str) -> str:
    """The registrable domain of a name, host or URL; raises UsageError."""
    return Submission.understand(text).domain
