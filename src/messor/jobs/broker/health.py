"""Whether the broker responds and accepts the queues; blocking, for commands."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from messor.jobs.broker.app import build_app
from messor.jobs.broker.options import Options
from messor.jobs.broker.publisher import Publisher


def standing(options: Options, job_types: Sequence[str]) -> dict[str, int]:
    """How many hints wait in each queue, which is created if missing.

    Raises BrokerAwayError with the problem.
    """
    with closing(Publisher(build_app(options), options)) as publisher:
        publisher.declare(job_types)
        return {job_type: publisher.length(job_type) for job_type in job_types}
