"""Metrics of one process: stages of a page's way, fetches, refusals, friction, jobs, requests.

Each process has a `Metrics` of its own, passed to what it measures; `runtime.metrics_socket` gives
them out. Figures of the whole installation are read from the database by `ops.figures`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import Metric
from prometheus_client.process_collector import ProcessCollector

STAGES = ("claim", "decide", "pace", "fetch", "read", "keep", "flush", "extract")
SECONDS = (0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Metrics:
    """What one process counts; names and meanings are listed in docs/metrics.md."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        ProcessCollector(namespace="messor", registry=registry)
        self.stage_seconds = Histogram(
            "messor_stage_seconds", "Duration of a stage of a page's path", ["stage"],
            buckets=SECONDS, registry=registry,
        )  # fmt: skip
        self.stage_errors = Counter(
            "messor_stage_errors", "Stages that ended with an error", ["stage"], registry=registry
        )
        self.fetches = Counter(
            "messor_fetches", "Attempts to fetch, stored in the fetch log",
            ["kind", "provider", "outcome"], registry=registry,
        )  # fmt: skip
        self.refusals = Counter(
            "messor_refusals", "Tasks that a rule denied or deferred; robots.txt is one of them",
            ["rule"], registry=registry,
        )  # fmt: skip
        self.friction = Counter(
            "messor_friction", "Friction signals", ["signal"], registry=registry
        )
        self.visits = Gauge("messor_visits", "Lanes being visited", registry=registry)
        self.visits_ended = Counter(
            "messor_visits_ended", "Visits that ended", ["reason"], registry=registry
        )
        self.flushed_pages = Counter(
            "messor_flushed_pages", "Page results committed by flushes", registry=registry
        )
        self.archive_bytes = Counter(
            "messor_archive_written_bytes", "Bytes of WARC records committed", registry=registry
        )
        self.extracted_pages = Counter(
            "messor_extracted_pages", "Pages taken from the extraction queue", ["result"],
            registry=registry,
        )  # fmt: skip
        self.job_seconds = Histogram(
            "messor_job_seconds", "Duration of a job", ["type"], buckets=SECONDS, registry=registry
        )
        self.jobs_ended = Counter(
            "messor_jobs_ended", "Job attempts by result", ["type", "outcome"],
            registry=registry,
        )  # fmt: skip
        self.request_seconds = Histogram(
            "messor_request_seconds", "Duration of a request to the console or API",
            ["interface"], buckets=SECONDS, registry=registry,
        )  # fmt: skip
        self.requests = Counter(
            "messor_requests", "Requests to the console or API", ["interface", "status"],
            registry=registry,
        )  # fmt: skip
        self.ready = Gauge(
            "messor_ready", "1 if the database responds to this process", registry=registry
        )
        # Present from the start, so that an absent series means a fault; looked up once: there are
        # five stages to a page.
        self._stages = {
            name: (self.stage_seconds.labels(name), self.stage_errors.labels(name))
            for name in STAGES
        }

    def stage(self, name: str) -> _Stage:
        """Measure a stage; an exception counts as an error, a cancellation does not."""
        return _Stage(*self._stages[name])

    def text(self) -> str:
        """The metrics in Prometheus' text format."""
        return generate_latest(self.registry).decode()


class _Stage:
    """One stage being measured; a generator of `contextlib` takes three times as long."""

    __slots__ = ("_began", "_errors", "_seconds")

    def __init__(self, seconds: Histogram, errors: Counter) -> None:
        self._seconds = seconds
        self._errors = errors

    def __enter__(self) -> Self:
        self._began = time.perf_counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._seconds.observe(time.perf_counter() - self._began)
        if isinstance(error, Exception):
            self._errors.inc()


class _Fixed:
    """A collector of what was gathered before."""

    def __init__(self, families: Sequence[Metric]) -> None:
        self._families = families

    def collect(self) -> Sequence[Metric]:
        return self._families


def as_text(families: Sequence[Metric]) -> str:
    """The text format of Prometheus."""
    registry = CollectorRegistry()
    registry.register(_Fixed(families))
    return generate_latest(registry).decode()
