"""The Celery application: its queues, its only task, and what keeps messages small and harmless.

Hints are JSON, results are not kept, and events are on so that Flower can show the work. Nothing
here is shared between processes or kept in the module: each caller builds its own.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Sequence
from typing import Any

from celery import Celery
from kombu.entity import Queue

from messor.jobs.broker.options import Options

TASK = "messor.hint"
QUEUE_PREFIX = "messor."
HEARTBEAT_SECONDS = 10


class App(Celery):  # type: ignore[misc] # Celery has no types
    """Celery that ignores CELERY_* variables: Messor's settings name the broker."""

    backend_cls = "disabled"

    def __init__(self, url: str) -> None:
        self._url = url
        super().__init__("messor", broker=url, set_as_current=False)

    def connection_for_read(self, url: str | None = None, **more: Any) -> Any:
        return super().connection_for_read(url or self._url, **more)

    def connection_for_write(self, url: str | None = None, **more: Any) -> Any:
        return super().connection_for_write(url or self._url, **more)


def build_app(options: Options, job_types: Sequence[str] = ()) -> Celery:
    """An application that sends hints, and consumes those of the named job types."""
    app = App(options.url)
    app.conf.update(
        accept_content=["json"],
        task_serializer="json",
        task_ignore_result=True,
        task_store_errors_even_if_ignored=False,
        task_acks_late=True,
        worker_prefetch_multiplier=1,
        task_queues=[queue_of(job_type, options) for job_type in job_types],
        task_create_missing_queues=False,
        worker_send_task_events=True,
        task_send_sent_event=True,
        broker_heartbeat=HEARTBEAT_SECONDS,
        broker_connection_timeout=options.timeout_seconds,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,  # forever: meanwhile jobs are found without it
        worker_cancel_long_running_tasks_on_connection_loss=False,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        enable_utc=True,
        timezone="UTC",
        broker_use_ssl=_tls(options),
    )
    return app


def _tls(options: Options) -> dict[str, object] | None:
    """The name is checked only if one is given; None means the one in the URL."""
    if not options.url.startswith("amqps:"):
        return None
    return {
        "cert_reqs": ssl.CERT_REQUIRED,
        "server_hostname": None,
        "ca_certs": options.ca_file,
    }


def register(app: Celery, take: Callable[[str, str], None]) -> None:
    """Register `take(job_id, job_type)` as the effect of a hint."""
    app.task(take, name=TASK)


def queue_of(job_type: str, options: Options) -> Queue:
    """A durable queue per job type; a full queue rejects hints, it never drops them silently."""
    arguments = {
        "x-queue-type": options.queue_type,
        "x-max-length": options.queue_length,
        "x-overflow": "reject-publish",
    }
    name = QUEUE_PREFIX + job_type
    return Queue(name, routing_key=name, durable=True, queue_arguments=arguments)
