"""A document as Firecrawl's clients read it; what Messor adds is in `metadata.messor`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from messor.scrape.archived import SnapshotPage
from messor.scrape.documents import ScrapedDocument


def shown(
    made: ScrapedDocument,
    base: str,
    *,
    asked: str | None = None,
    cached: bool | None = None,
    scrape_id: str | None = None,
    warnings: Sequence[str] = (),
) -> dict[str, Any]:
    """A document; `base` is that of links to this server."""
    page = made.page
    metadata: dict[str, Any] = {
        "title": page.title,
        "description": page.description,
        "language": page.language,
        "sourceURL": asked or page.url,
        "url": page.url,
        "statusCode": page.status_code,
        "contentType": page.content_type,
        "proxyUsed": "basic",
        "creditsUsed": 1,
        "scrapeId": scrape_id,
        "messor": _evidence(page, base),
    }
    if cached is not None:
        metadata["cacheState"] = "hit" if cached else "miss"
        if cached:
            metadata["cachedAt"] = page.seen_at.isoformat()
    told = [*warnings, *made.warnings]
    body = {
        **made.parts,
        "metadata": {name: value for name, value in metadata.items() if value is not None},
    }
    if told:
        body["warning"] = " ".join(told)
    return body


def _evidence(page: SnapshotPage, base: str) -> dict[str, Any]:
    """Where the decision, the snapshot and the proof of a page are."""
    return {
        "domain": page.domain,
        "page": page.page_id,
        "snapshot": page.snapshot_id,
        "capturedAt": page.crawled_at.isoformat(),
        "confirmedAt": page.seen_at.isoformat(),
        "provider": page.provider,
        "decision": f"{base}/pages/{page.page_id}/why",
        "evidence": f"{base}/pages/{page.page_id}/snapshots/{page.snapshot_id}",
        "api": f"{base}/api/v1/snapshots/{page.snapshot_id}",
    }
