"""Sends hints to the broker, each confirmed; blocking, so it is called from its own thread.

A connection is used until it fails; then the next call opens a new one and declares the queues
again.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from amqp.exceptions import AMQPError, MessageNacked, NotFound, PreconditionFailed
from celery import Celery
from kombu.connection import Connection
from kombu.exceptions import KombuError
from kombu.messaging import Producer

from messor.errors import UnavailableError
from messor.jobs.broker.app import QUEUE_PREFIX, TASK, build_app, queue_of
from messor.jobs.broker.options import Options
from messor.jobs.broker.outbox import Hint

AWAY = (OSError, AMQPError, KombuError)


class BrokerAwayError(UnavailableError):
    """The broker does not respond, or not in time."""

    code = "broker_away"


class BrokerFullError(UnavailableError):
    """The broker is available but accepts no more hints of a type."""

    code = "broker_full"

    def __init__(self, job_type: str) -> None:
        super().__init__(f"The broker's queue of {job_type!r} is full.")
        self.job_type = job_type


class Publisher:
    """One sending connection; not thread-safe."""

    def __init__(self, app: Celery, options: Options) -> None:
        self._app = app
        self._options = options
        self._connection: Connection | None = None
        self._producer: Producer | None = None

    def send(self, hints: Sequence[Hint]) -> int:
        """Send until done or rejected; return how many the broker has, if not all.

        Raises only if it has none of them.
        """
        for sent, hint in enumerate(hints):
            try:
                self._send(hint)
            except AWAY as error:
                self.close()
                if sent:
                    return sent
                if isinstance(error.__cause__, MessageNacked):
                    raise BrokerFullError(hint.job_type) from error
                raise _away(error, hint.job_type) from error
        return len(hints)

    def declare(self, job_types: Sequence[str]) -> None:
        """Declare the queues of some types, or raise the reason why not."""
        for job_type in job_types:
            try:
                queue_of(job_type, self._options)(self._ready().channel).declare()
            except AWAY as error:
                self.close()
                raise _away(error, job_type) from error

    def length(self, job_type: str) -> int:
        """How many hints of a type wait in the broker."""
        queue = queue_of(job_type, self._options)
        try:
            channel = self._ready().channel
            try:
                count: int = queue(channel).queue_declare(passive=True).message_count
            except NotFound:
                self.close()
                return 0
        except AWAY as error:
            self.close()
            raise _away(error, job_type) from error
        return count

    def close(self) -> None:
        connection, self._connection, self._producer = self._connection, None, None
        if connection is not None:
            connection.collect(socket_timeout=self._options.timeout_seconds)

    def _send(self, hint: Hint) -> None:
        # Each connection declares the queue once. Mandatory: a deleted queue must not swallow
        # hints.
        self._app.send_task(
            TASK,
            args=[str(hint.job_id), hint.job_type],
            queue=queue_of(hint.job_type, self._options),
            producer=self._ready(),
            retry=False,
            mandatory=True,
            confirm_timeout=self._options.timeout_seconds,
        )

    def _ready(self) -> Producer:
        if self._producer is None:
            seconds = self._options.timeout_seconds
            self._connection = self._app.connection_for_write(
                connect_timeout=seconds,
                heartbeat=0,  # heartbeats would not be answered between two batches
                transport_options={
                    "confirm_publish": True,
                    "read_timeout": seconds,
                    "write_timeout": seconds,
                },
            )
            self._connection.connect()
            self._producer = Producer(self._connection.channel(), auto_declare=False)
        return self._producer


def _away(error: Exception, job_type: str) -> BrokerAwayError:
    if isinstance(error, PreconditionFailed) or isinstance(error.__cause__, PreconditionFailed):
        name = QUEUE_PREFIX + job_type
        return BrokerAwayError(
            f"The broker has a queue {name} of another type or length; its hints are sent "
            f"again once it is deleted: rabbitmqctl delete_queue {name}"
        )
    return BrokerAwayError(f"The broker rejects hints: {error!r}")


def hints_waiting(options: Options, job_types: Sequence[str]) -> dict[str, int]:
    """How many hints wait in each queue, which is created if missing.

    Raises BrokerAwayError with the problem.
    """
    with closing(Publisher(build_app(options), options)) as publisher:
        publisher.declare(job_types)
        return {job_type: publisher.length(job_type) for job_type in job_types}
