"""A job as somebody may see it: its payload by right and by field, its texts without secrets."""

from __future__ import annotations

from typing import Any

from messor.core.masking import mask, mask_text

# What a payload may show to everybody who may look at jobs. All else is for those who may act on
# jobs: a webhook's payload is an event, which may be one of the audit's.
OPEN_FIELDS = frozenset(
    {"since", "subject", "window", "page_id", "snapshot_id", "seen_at", "cause", "judge", "read"}
)
TEXTS = ("target_url", "dedupe_key", "dead_reason")


def shown_job(job: dict[str, Any], *, in_full: bool) -> dict[str, Any]:
    """A copy of what `listing.get` answers; `in_full` for those who may act on jobs.

    `is_cut` says whether fields of the payload were left out.
    """
    payload = job["payload"] or {}
    open_part = payload if in_full else {k: v for k, v in payload.items() if k in OPEN_FIELDS}
    texts = {name: _text(job.get(name)) for name in TEXTS if name in job}
    return {
        **job,
        **texts,
        "payload": mask(open_part),
        "is_cut": len(open_part) < len(payload),
        "result_json": mask(job["result_json"]),
        "errors": [_error(error, in_full=in_full) for error in job["errors"]],
    }


def _error(error: dict[str, Any], *, in_full: bool) -> dict[str, Any]:
    """Where in the program it happened is for those who can do something about it."""
    stack = _text(error["stack_trace"]) if in_full else None
    return {**error, "error_message": _text(error["error_message"]), "stack_trace": stack}


def _text(text: str | None) -> str | None:
    return None if text is None else mask_text(text)
