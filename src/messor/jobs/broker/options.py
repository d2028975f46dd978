"""How a broker is used: its URL, its queues, how often lost hints are replaced."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Literal
from urllib.parse import urlsplit

from messor.errors import UsageError
from messor.settings import Settings
from messor.web.addresses import Address, is_never_connected
from messor.web.suffixes import is_ip_literal
from messor.web.urls import parse


@dataclass(frozen=True, slots=True)
class Options:
    """Chosen so that a hint arrives at once, and a lost one is sent again within seconds."""

    url: str  # amqp:// or amqps://; the latter checks certificate and name
    ca_file: str | None = None  # trusted authorities instead of the system's
    queue_type: Literal["classic", "quorum"] = "classic"
    queue_length: int = 100_000  # hints per queue; further ones wait in the outbox
    threads: int = 8  # hints a process hands over at a time
    place_seconds: float = (
        20.0  # how long a hint waits for a free slot before it goes to another worker
    )
    sweep_seconds: float = 5.0  # how often overdue jobs are searched for
    overdue_seconds: float = 10.0  # how long a job may wait before it is hinted again
    relay_seconds: float = 15.0  # how long the outbox waits for a dead relay
    poll_seconds: float = 0.2  # how often an idle relay polls the outbox
    away_look_seconds: float = (
        0.5  # how often workers poll for jobs while the broker is unavailable
    )
    hinted_look_seconds: float = 30.0  # and while it is available, for what hints might miss
    timeout_seconds: float = 5.0  # to connect, and to confirm one hint


def options_of(settings: Settings) -> Options:
    """The broker named by the settings."""
    if settings.broker_url is None:
        raise UsageError(
            "No broker is configured; set MESSOR_BROKER_URL=amqp://user:password@host//"
        )
    url = settings.broker_url.get_secret_value()
    if urlsplit(url).scheme not in {"amqp", "amqps"}:
        raise UsageError("MESSOR_BROKER_URL must begin with amqp:// or amqps://")
    for place in url.split(";"):  # several are alternatives
        address = _literal(urlsplit(place).hostname or "")
        if address is not None and is_never_connected(address):
            raise UsageError(f"MESSOR_BROKER_URL names {address}, which is not allowed.")
    return Options(
        url,
        ca_file=str(settings.ca_file) if settings.ca_file else None,
        queue_type=settings.broker_queue_type,
        queue_length=settings.broker_queue_length,
    )


def _literal(host: str) -> Address | None:
    """The IP address that a host spells out, in any notation; None for a name."""
    plain = host.partition("%")[0]
    seen = parse(f"http://[{plain}]/" if ":" in plain else f"http://{plain}/")
    return ip_address(seen.host.strip("[]")) if seen and is_ip_literal(seen.host) else None
