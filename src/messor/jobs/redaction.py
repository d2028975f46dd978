"""A job for display: payload fields by permission, texts without secrets."""

from __future__ import annotations

from typing import Any

from messor.core.masking import mask, mask_text

# Payload fields visible to everyone who may view jobs. All others need the right to act on jobs: a
# webhook's payload is an event, which may be an audit event.
OPEN_FIELDS = frozenset(
    {"since", "subject", "window", "page_id", "snapshot_id", "seen_at", "cause", "judge", "read"}
)
TEXTS = ("target_url", "dedupe_key", "dead_reason")


def shown_job(job: dict[str, Any], *, in_full: bool) -> dict[str, Any]:
    """A copy of the result of `queries.get`; `in_full` for those who may act on jobs.

    `is_cut` says whether payload fields were left out.
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
    """The stack trace is only for those who may act on jobs."""
    stack = _text(error["stack_trace"]) if in_full else None
    return {**error, "error_message": _text(error["error_message"]), "stack_trace": stack}


def _text(text: str | None) -> str | None:
    return None if text is None else mask_text(text)
