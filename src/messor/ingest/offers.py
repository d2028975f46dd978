"""Offers: next steps for a run without content, each with a command that can be copied."""

from __future__ import annotations

from messor.ingest.result import Circumstances, RunOutcome

Offer = dict[str, str]


def offers_of(outcome: RunOutcome, url: str, mode: str, met: Circumstances) -> list[Offer]:
    """Next steps that request no more of the site than it may accept."""
    if outcome is RunOutcome.BLOCKED:
        return [_assisted(url), _import(url)]
    if outcome is RunOutcome.ERROR:
        worker = [] if met.has_worker else [_worker()]
        return [*worker, _retry(url, mode), _import(url)]
    return []


def _assisted(url: str) -> Offer:
    return {
        "kind": "user_assisted",
        "text": "Name the pages that matter; only these are requested, slowly.",
        "command": f"messor crawl {url} --mode user_assisted --page {url}",
    }


def _import(url: str) -> Offer:
    return {
        "kind": "manual_import",
        "text": "Save pages in your browser and import them; no request is sent to the site.",
        "command": f"messor import saved-page.html --url {url} --approve",
    }


def _worker() -> Offer:
    return {
        "kind": "start_worker",
        "text": "Start a worker; without one nothing is fetched.",
        "command": "messor worker",
    }


def _retry(url: str, mode: str) -> Offer:
    page = f" --page {url}" if mode == "user_assisted" else ""
    return {
        "kind": "retry",
        "text": "Run it again; pages fetched within a day are taken from the cache.",
        "command": f"messor crawl {url} --mode {mode}{page}",
    }
