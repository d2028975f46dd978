"""Counts what a flush committed, for the process's metrics."""

from __future__ import annotations

from messor.core.metrics import Metrics
from messor.crawl.batch import FlushBatch


def count_committed(metrics: Metrics, batch: FlushBatch) -> None:
    """Count fetches, refusals, friction, ended visits and archived bytes of a committed batch."""
    for result in batch.results:
        kind = result.task.kind
        for fetched, outcome in result.attempts:
            metrics.fetches.labels(kind, fetched.provider, str(outcome)).inc()
        if result.result is None:
            metrics.refusals.labels(result.decision.rule).inc()
        if result.snapshot is not None:
            metrics.archive_bytes.inc((result.snapshot.revisit or result.snapshot.place).length)
    for signal in batch.friction:
        metrics.friction.labels(signal.signal).inc()
    for back in batch.given_back:
        metrics.visits_ended.labels(back.reason).inc()
    metrics.flushed_pages.inc(len(batch.results))
